/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `xrprof-bpf info`: what this kernel, these privileges and this build can do, and what each of it
 * means.  It finds out by doing: the engines ask what they ask before a session, and are opened.
 */
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/buf.h"
#include "cmd/cmd.h"
#include "cmd/linux/verdict.h"
#include "engine/bpf/probe.h"
#include "engine/bpf/programs.h"
#include "base/json.h"
#include "os/linux/refusal.h"
#include "os/linux/rights.h"
#include "target/layouts.h"
#include "engine/engine.h"
#include "output/writer.h"
#include "base/log.h"
#include "base/version.h"

#define FREQ 99

struct info_options {
	bool help, json, programs, verbose;
	const char *btf;
};

/* The R versions known, as one more finding. */
static void info__versions(engine_found found, void *arg)
{
	struct engine_finding finding = {
		.name = "R versions",
		.ok = true,
		.meaning = "layouts are known; a newer R is checked before it is profiled",
	};
	uint32_t last = 0;
	size_t n;
	const struct layouts_row *table = layouts__table(&n);

	for (size_t i = 0; i < n; i++)
		if (table[i].last > last)
			last = table[i].last;
	errmsg__set(&finding.value, 0, "3.0.0 to %u.%u.%u", last >> 16, last >> 8 & 255,
		    last & 255);
	found(arg, &finding);
}

/* Capabilities, and what lacks without them. */
static const struct {
	unsigned int number;
	bool first; /* it counts in the first user namespace alone */
	const char *name;
	const char *without;
} caps[] = {
	{CAP_BPF, true, "cap_bpf", "engine bpf cannot load its programs"},
	{CAP_PERFMON, true, "cap_perfmon",
	 "engine bpf cannot attach them, and --all cannot see new processes"},
	{CAP_SYS_PTRACE, false, "cap_sys_ptrace",
	 "only R processes of this user, with no additional capabilities, can be profiled"},
	{CAP_DAC_READ_SEARCH, false, "cap_dac_read_search",
	 "an R process whose files this user may not read cannot be profiled"},
	{CAP_CHECKPOINT_RESTORE, true, "cap_checkpoint_restore",
	 "the files of an R that runs in a container or was upgraded are found by path, or read "
	 "from its memory"},
};

#define NCAPS (sizeof(caps) / sizeof(caps[0]))

/* Is caps[@i] of use here? */
static bool info__has(uint64_t set, size_t i)
{
	return set >> caps[i].number & 1 && !(caps[i].first && refusal__in_namespace());
}

/* Whose rights over a process count. */
static void info__rights(engine_found found, void *arg)
{
	struct engine_finding finding = {.name = "rights", .ok = true};
	gid_t gid;

	switch (rights__whose(&gid)) {
	case RIGHTS_GROUP:
		errmsg__set(&finding.value, 0, "every process, as a member of group %u",
			    (unsigned int)gid);
		finding.meaning = "root has restricted the program to this group";
		break;
	case RIGHTS_CALLER:
		errmsg__set(&finding.value, 0, "R processes of the caller");
		finding.meaning = "the capabilities of the program are for BPF; the kernel decides "
				  "which processes the caller may inspect";
		break;
	case RIGHTS_PROCESS:
		finding.meaning = "the program has the privileges of its caller";
		if (!(rights__permitted() >> CAP_SYS_PTRACE & 1))
			errmsg__set(&finding.value, 0, "R processes of the caller");
		else
			errmsg__set(&finding.value, 0, "every process%s",
				    refusal__in_namespace() ? " of this user namespace" : "");
	}
	found(arg, &finding);
}

/*
 * What the machine answers to the engine's questions; then it is opened, for the questions are not
 * all that can go wrong.
 */
static bool engine__works(const struct engine_ops *ops, const struct info_options *o,
			  engine_found found, void *arg, struct errmsg *f)
{
	struct engine_config config = {.freq = FREQ, .btf = o->btf, .verbose = o->verbose};
	struct engine *engine;

	if (ops->probe(&config, found, arg, f) || ops->open(&engine, &config, f))
		return false;
	ops->close(engine);
	return true;
}

/* What the verdict depends on, except what the engines answer: these "work" so far. */
static struct verdict_facts info__facts(void)
{
	struct verdict_facts facts = {
		.whose = rights__whose(NULL),
		.permitted = rights__permitted(),
		.root = !geteuid(),
		.user_ns = refusal__in_namespace(),
		.pid_ns = kernel__pid_namespace(),
		.lockdown = refusal__lockdown(),
		.ptrace_scope = rights__ptrace_scope(),
	};

	for (unsigned int i = 0; i <= CAP_LAST_CAP; i++)
		if (prctl(PR_CAPBSET_READ, i, 0, 0, 0) == 1)
			facts.bounding |= 1ULL << i;
	return facts;
}

/* Engine @e works, or does not because of @f.  One that reads from outside is enough. */
static void facts__engine(struct verdict_facts *facts, const struct engine_ops *e, bool works,
			  const struct errmsg *f)
{
	struct errmsg none = {""};

	if (e == &engine_bpf)
		facts->bpf = works ? none : *f;
	else if (works || e == engines__all()[1])
		facts->outside = works ? none : *f;
}

static void finding__print(void *arg, const struct engine_finding *finding)
{
	buf__printf(arg, "%-18s %-3s %s\n%22s %s\n", finding->name, finding->ok ? "ok" : "-",
		    finding->value.text, "", finding->meaning);
}

static int info__text(const struct info_options *o)
{
	struct verdict_facts facts = info__facts();
	struct buf details = {0};
	struct verdict verdict;
	struct errmsg f;

	info__versions(finding__print, &details);
	info__rights(finding__print, &details);
	for (const struct engine_ops *const *e = engines__all(); *e; e++) {
		bool works;

		buf__str(&details, "\n");
		works = engine__works(*e, o, finding__print, &details, &f);
		buf__printf(&details, "engine %-11s %-3s %s\n", (*e)->name, works ? "ok" : "-",
			    works ? (*e)->help : f.text);
		facts__engine(&facts, *e, works, &f);
	}
	buf__str(&details, "\n");
	for (size_t i = 0; i < NCAPS; i++) {
		bool have = info__has(facts.permitted, i);

		buf__printf(&details, "%-22s %s%s%s\n", caps[i].name, have ? "ok" : "-",
			    have ? "  permitted; in effect only while needed" : "   without it ",
			    have ? "" : caps[i].without);
	}
	verdict__of(&verdict, &facts);
	printf("%s %s\n\n%s\n", XR_PROGRAM, XR_VERSION, verdict.text.text);
	if (*verdict.advice.text)
		printf("%s\n", verdict.advice.text);
	printf("\n%.*s", (int)details.len, details.data);
	buf__free(&details);
	return 0;
}

static void finding__json(void *arg, const struct engine_finding *finding)
{
	struct json *j = arg;

	json__object(j, NULL);
	json__str(j, "name", finding->name);
	json__bool(j, "ok", finding->ok);
	json__str(j, "value", finding->value.text);
	json__str(j, "meaning", finding->meaning);
	json__close(j);
}

static int info__json(const struct info_options *o)
{
	struct verdict_facts facts = info__facts();
	struct verdict verdict;
	struct errmsg f;
	struct json j;

	json__begin(&j);
	json__object(&j, NULL);
	json__str(&j, "version", XR_VERSION);
	json__array(&j, "features");
	info__versions(finding__json, &j);
	info__rights(finding__json, &j);
	json__close(&j);
	json__array(&j, "capabilities");
	for (size_t i = 0; i < NCAPS; i++) {
		json__object(&j, NULL);
		json__str(&j, "name", caps[i].name);
		json__bool(&j, "ok", info__has(facts.permitted, i));
		json__bool(&j, "effective", rights__effective() >> caps[i].number & 1);
		json__str(&j, "without", caps[i].without);
		json__close(&j);
	}
	json__close(&j);
	json__array(&j, "engines");
	for (const struct engine_ops *const *e = engines__all(); *e; e++) {
		bool works;

		json__object(&j, NULL);
		json__str(&j, "name", (*e)->name);
		json__array(&j, "features");
		works = engine__works(*e, o, finding__json, &j, &f);
		json__close(&j);
		json__bool(&j, "ok", works);
		json__str(&j, "clock", (*e)->clock);
		json__str(&j, "reason", works ? NULL : f.text);
		json__close(&j);
		facts__engine(&facts, *e, works, &f);
	}
	json__close(&j);
	verdict__of(&verdict, &facts);
	json__object(&j, "verdict");
	json__str(&j, "processes", verdict__reach_name(verdict.reach));
	json__bool(&j, "bpf", verdict.bpf);
	json__str(&j, "text", verdict.text.text);
	json__str(&j, "advice", *verdict.advice.text ? verdict.advice.text : NULL);
	json__close(&j);
	json__close(&j);
	return json__print(&j, stdout);
}

static void program__print(void *arg, const struct bpf_program_cost *cost)
{
	(void)arg;
	printf("program %s insns %llu states %llu usec %llu\n", cost->name,
	       (unsigned long long)cost->insns, (unsigned long long)cost->states,
	       (unsigned long long)cost->usec);
}

static void program__json(void *arg, const struct bpf_program_cost *cost)
{
	struct json *j = arg;

	json__object(j, NULL);
	json__str(j, "name", cost->name);
	json__u64(j, "insns", cost->insns);
	json__u64(j, "states", cost->states);
	json__u64(j, "usec", cost->usec);
	json__close(j);
}

/* 0, or a negative errno with @f filled or empty. */
static int info__programs(const struct info_options *o, struct errmsg *f)
{
	struct engine_config config = {
		.freq = FREQ,
		.capture = XR_CAPTURE,
		.btf = o->btf,
		.verbose = o->verbose,
	};
	struct bpf_features have = {0};
	struct json j;
	int err, end;

	bpf_programs__quiet(&config);
	err = bpf_probe__ask(&config, NULL, NULL, &have, f);
	if (!o->json)
		return err ? err : bpf_programs__costs(&config, &have, program__print, NULL, f);
	json__begin(&j);
	json__array(&j, NULL);
	err = err ? err : bpf_programs__costs(&config, &have, program__json, &j, f);
	json__close(&j);
	end = json__print(&j, stdout);
	return err ? err : end;
}

static const struct option_row rows[] = {
	OPT_FLAG('j', "json", .at = offsetof(struct info_options, json), "print one JSON object"),
	OPT_FLAG('P', "programs", .at = offsetof(struct info_options, programs),
		 "load the BPF programs and print the verifier's statistics: program NAME insns N "
		 "states N usec N"),
	OPT_STRING(0, "btf", .at = offsetof(struct info_options, btf), "FILE",
		   "read kernel BTF from FILE, for kernels without /sys/kernel/btf"),
	OPT_FLAG('v', "verbose", .at = offsetof(struct info_options, verbose),
		 "print the messages of libbpf"),
	OPT_HELP(.at = offsetof(struct info_options, help)),
	{0},
};

static int info__main(int argc, char **argv)
{
	struct info_options o = {0};
	struct errmsg f = {""};
	int err;

	if (!cmd__options(&cmd_info, &o, argc, argv, &err))
		return err;
	if (!o.verbose)
		libbpf_set_print(NULL);
	if (cmd__btf(o.btf, &f)) {
		log__line("%s", f.text);
		return CMD_FAILED;
	}
	if (o.programs)
		err = info__programs(&o, &f);
	else
		err = o.json ? info__json(&o) : info__text(&o);
	if (err)
		log__line("%s", f.text[0] ? f.text : strerror(-err));
	return err ? CMD_FAILED : CMD_OK;
}

const struct subcommand cmd_info = {
	.name = "info",
	.help = "show which R processes you can profile, and how",
	.usage = {"info [options]"},
	.about = "Prints which R processes you can profile and how, then what this kernel, these "
		 "privileges and this build support.",
	.examples = {{"Check this machine", "xrprof-bpf info"}},
	.options = rows,
	.run = info__main,
};
