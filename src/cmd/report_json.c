/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What `report --json` prints, for programs: its schema, and how it is printed. */
#include <errno.h>

#include "cmd/cmd.h"
#include "cmd/report.h"
#include "os/os.h"

/* clang-format off */
static const char schema[] =
"{\"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
" \"title\": \"xrprof-bpf report --json\",\n"
" \"type\": \"object\",\n"
" \"required\": [\"schema\"],\n"
" \"properties\": {\"schema\": {\"const\": 1}},\n"
" \"oneOf\": [{\"$ref\": \"#/$defs/calls\"}, {\"$ref\": \"#/$defs/table\"},\n"
"  {\"$ref\": \"#/$defs/values\"}],\n"
" \"$defs\": {\n"
"  \"count\": {\"type\": \"integer\", \"minimum\": 0},\n"
"  \"number\": {\"type\": \"number\", \"minimum\": 0},\n"
"  \"unit\": {\"enum\": [\"samples\", \"nanoseconds\", \"bytes\", \"count\"]},\n"
"  \"sums\": {\"type\": \"object\", \"required\": [\"self\", \"total\"],\n"
"   \"properties\": {\"self\": {\"$ref\": \"#/$defs/count\"},\n"
"    \"total\": {\"$ref\": \"#/$defs/count\"}}},\n"
"  \"table\": {\"required\": [\"schema\", \"by\", \"type\", \"unit\", \"profiles\", \"rows\"],\n"
"   \"properties\": {\n"
"    \"by\": {\"enum\": [\"function\", \"line\", \"package\"]},\n"
"    \"type\": {\"type\": \"string\", \"description\": \"sample type: cpu, off_cpu, ...\"},\n"
"    \"unit\": {\"$ref\": \"#/$defs/unit\"},\n"
"    \"profiles\": {\"type\": \"array\", \"minItems\": 1, \"maxItems\": 2, \"items\": {\n"
"     \"type\": \"object\", \"required\": [\"files\", \"total\"], \"properties\": {\n"
"      \"files\": {\"type\": \"string\"}, \"total\": {\"$ref\": \"#/$defs/count\"},\n"
"      \"seconds\": {\"$ref\": \"#/$defs/number\"}}}},\n"
"    \"rows\": {\"type\": \"array\", \"items\": {\"type\": \"object\",\n"
"     \"required\": [\"name\"], \"properties\": {\"name\": {\"type\": \"string\"},\n"
"      \"self\": {\"$ref\": \"#/$defs/count\"}, \"total\": {\"$ref\": \"#/$defs/count\"},\n"
"      \"before\": {\"$ref\": \"#/$defs/sums\"}, \"after\": {\"$ref\": \"#/$defs/sums\"}},\n"
"     \"oneOf\": [{\"required\": [\"self\", \"total\"]},\n"
"      {\"required\": [\"before\", \"after\"]}]}}}},\n"
"  \"values\": {\"required\": [\"schema\", \"by\", \"rows\"], \"properties\": {\n"
"   \"by\": {\"type\": \"string\", \"description\": \"a label\"},\n"
"   \"type\": {\"type\": \"string\"}, \"unit\": {\"$ref\": \"#/$defs/unit\"},\n"
"   \"rows\": {\"type\": \"array\", \"items\": {\"type\": \"object\",\n"
"    \"required\": [\"value\", \"samples\", \"seconds\"], \"properties\": {\n"
"     \"value\": {\"type\": [\"string\", \"null\"]},\n"
"     \"samples\": {\"$ref\": \"#/$defs/count\"},\n"
"     \"seconds\": {\"$ref\": \"#/$defs/number\",\n"
"      \"description\": \"0: no time, or the rate is not known\"},\n"
"     \"sum\": {\"$ref\": \"#/$defs/count\", \"description\": \"in the unit\"}}}}}},\n"
"  \"calls\": {\"required\": [\"schema\", \"files\", \"calls\", \"slowest\"],\n"
"   \"properties\": {\n"
"    \"files\": {\"type\": \"string\"},\n"
"    \"period_ms\": {\"$ref\": \"#/$defs/number\",\n"
"     \"description\": \"shorter calls are found only by chance\"},\n"
"    \"calls\": {\"type\": \"array\", \"items\": {\"type\": \"object\",\n"
"     \"required\": [\"function\", \"calls\", \"total_s\", \"median_ms\", \"p90_ms\",\n"
"      \"p99_ms\", \"max_ms\", \"cpu_s\", \"waiting_s\", \"cut\", \"running\", \"ambiguous\"],\n"
"     \"properties\": {\"function\": {\"type\": \"string\"},\n"
"      \"calls\": {\"$ref\": \"#/$defs/count\"}, \"total_s\": {\"$ref\": \"#/$defs/number\"},\n"
"      \"median_ms\": {\"$ref\": \"#/$defs/number\"}, \"p90_ms\": {\"$ref\": \"#/$defs/number\"},\n"
"      \"p99_ms\": {\"$ref\": \"#/$defs/number\"}, \"max_ms\": {\"$ref\": \"#/$defs/number\"},\n"
"      \"cpu_s\": {\"$ref\": \"#/$defs/number\"}, \"waiting_s\": {\"$ref\": \"#/$defs/number\"},\n"
"      \"cut\": {\"$ref\": \"#/$defs/count\",\n"
"       \"description\": \"calls that began before the profile did\"},\n"
"      \"running\": {\"$ref\": \"#/$defs/count\",\n"
"       \"description\": \"calls that had not ended at the end of the profile\"},\n"
"      \"ambiguous\": {\"$ref\": \"#/$defs/count\",\n"
"       \"description\": \"calls found without a count of R's collections\"}}}},\n"
"    \"slowest\": {\"type\": \"array\", \"items\": {\"type\": \"object\",\n"
"     \"required\": [\"function\", \"start\", \"ms\", \"error_ms\", \"cpu_ms\", \"waiting_ms\",\n"
"      \"cut\", \"running\", \"ambiguous\", \"pid\", \"process\", \"request\", \"labels\"],\n"
"     \"properties\": {\"function\": {\"type\": \"string\"},\n"
"      \"start\": {\"type\": \"string\", \"format\": \"date-time\"},\n"
"      \"ms\": {\"$ref\": \"#/$defs/number\"}, \"error_ms\": {\"$ref\": \"#/$defs/number\"},\n"
"      \"cpu_ms\": {\"$ref\": \"#/$defs/number\"}, \"waiting_ms\": {\"$ref\": \"#/$defs/number\"},\n"
"      \"cut\": {\"type\": \"boolean\"}, \"running\": {\"type\": \"boolean\"},\n"
"      \"ambiguous\": {\"type\": \"boolean\"}, \"pid\": {\"$ref\": \"#/$defs/count\"},\n"
"      \"process\": {\"type\": \"string\"}, \"request\": {\"type\": [\"string\", \"null\"]},\n"
"      \"labels\": {\"type\": \"object\",\n"
"       \"additionalProperties\": {\"type\": \"string\"}}}}}}}}}\n";
/* clang-format on */

int report_schema(void)
{
	fputs(schema, stdout);
	return CMD_OK;
}

const char *report_unit(enum profile_unit unit)
{
	static const char *const units[] = {
		[PROFILE_TICKS] = "samples",
		[PROFILE_NANOSECONDS] = "nanoseconds",
		[PROFILE_BYTES] = "bytes",
		[PROFILE_COUNT] = "count",
	};

	return units[unit];
}

int report_json(struct json *j, struct errmsg *f)
{
	int err = json__print(j, stdout);

	return err ? errmsg__set(f, err, "cannot print JSON: %s", os__reason(err)) : 0;
}
