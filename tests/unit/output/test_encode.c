/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Profiles as bytes in memory: appended, whole, and in parts that add up to the whole. */
#include "encode_scene.h"
#include "some.h"

#define STACKS 300
#define TOTAL  (STACKS / 4 * (1 + 2 + 3 + 4)) /* of their weights */
#define DEEP   40

static const struct profile_process processes[] = {
	{.serial = 1, .pid = 10, .comm = "R", .container = "c0ffee", .r_version = "4.2.2"},
	{.serial = 2, .pid = 11, .comm = "Rscript", .r_version = "4.5.0"},
	{.serial = 3, .pid = 12, .comm = "idle", .r_version = "4.5.0"},
};

/* A profile of all: sample @i of STACKS. */
static struct sample sample_of(int i)
{
	const struct frame *frames[DEEP];
	uint32_t n = 1 + (uint32_t)i % DEEP;
	char name[32];

	for (uint32_t k = 0; k < n; k++) {
		snprintf(name, sizeof(name), "f%u_%d", k, i / 3);
		frames[k] = stack__frame(FRAME_R, name, k % 2 ? "a.R" : NULL, k);
	}
	return (struct sample){.time = 1000 + (uint64_t)i,
			       .weight = 1 + (uint64_t)i % 4,
			       .tid = processes[i % 2].pid,
			       .stack = stack__of(n, frames, NULL, 0)};
}

static struct aggregate *a;
static struct buf out;

BEFORE()
{
	a = AGGREGATE(.threads = true);
	for (int i = 0; i < STACKS; i++)
		aggregate__put(a, &processes[i % 2], sample_of(i));
	tap__bail_if(aggregate__know(a, &processes[2]), "no room");
}

static const struct profile_about about = {.freq = 100,
					   .engine = "bpf",
					   .clock = "cpu",
					   .event = "cycles",
					   .command = "the command",
					   .host = "here",
					   .began_real = 77};
static const struct stats stats = {.written = 749, .lost = 3, .seconds = 2};

TEST(whole)
{
	struct profile_part unlimited = {0};
	struct writer_config config = {.about = about};
	size_t size = 0;

	for (int i = 0; i < 3; i++) {
		config.part = i == 2 ? &unlimited : NULL;
		tap__bail_if(encode__profile(&out, formats__find("pprof"), &config, a, &stats),
			     "not encoded");
		size = i ? size : out.len;
		tap__ok(size && out.len == (size_t)(i + 1) * size &&
				!memcmp(out.data + (size_t)i * size, out.data, size),
			"the same bytes are appended, also for a part without limits (%zu)", size);
	}
}

/* Encode @part, one after another: what the profiles have in all; -1: one is not right. */
static long encode_all(struct profile_part part, size_t *profiles, struct encoded *sum)
{
	struct writer_config config = {.about = about};
	struct encoded done;
	long samples = 0;
	int more;

	*profiles = 0;
	*sum = (struct encoded){0};
	while ((more = encode__next(&out, formats__find("pprof"), &config, a, &stats, &part,
				    &done)) > 0) {
		const Pprof__Profile *p = scene__pprof(&out);
		long here = 0;

		for (size_t i = 0; i < p->n_sample; i++)
			here += p->sample[i]->value[0];
		if ((part.size && out.len > part.size) || (part.rows && p->n_sample > part.rows) ||
		    p->n_sample != done.rows || (uint64_t)here != done.samples)
			samples = -1;
		for (size_t i = 0; part.arg && i < p->n_sample; i++)
			if ((uint64_t)p->sample[i]->label[0]->num != *(const uint32_t *)part.arg)
				samples = -1;
		samples = samples < 0 ? -1 : samples + here;
		sum->rows += done.rows;
		sum->samples += done.samples;
		sum->left_out += done.left_out;
		(*profiles)++;
		out.len = 0;
	}
	sum->left_out += done.left_out;
	return more ? -1 : samples;
}

TEST(parts)
{
	uint32_t pid = 10, other = 11, absent = 99;
	struct encoded sum;
	size_t n, rows;
	long one, two, all;

	aggregate__rows(a, &rows);
	all = encode_all((struct profile_part){.rows = 70}, &n, &sum);
	tap__ok(all == TOTAL && n == (rows + 69) / 70 && sum.rows == rows,
		"parts of 70 rows: %zu, together the whole", n);
	one = encode_all((struct profile_part){.wants = scene__is_pid, .arg = &pid, .rows = 40}, &n,
			 &sum);
	tap__ok(one > 0 && n == 4, "one process in parts of 40 rows: %zu", n);
	two = encode_all((struct profile_part){.wants = scene__is_pid, .arg = &other}, &n, &sum);
	tap__ok(n == 1 && one + two == all, "it and the other are the whole: %ld + %ld", one, two);
	tap__ok(!encode_all((struct profile_part){.wants = scene__is_pid, .arg = &absent}, &n,
			    &sum) &&
			!n,
		"a process without samples has no profile");
	all = encode_all((struct profile_part){.size = 2000}, &n, &sum);
	tap__ok(all == TOTAL && n > 3, "parts of 2000 bytes: %zu, together the whole", n);
}

TEST(process_part)
{
	struct profile_part part = {.wants = scene__is_pid, .arg = &(uint32_t){10}};
	struct writer_config config = {.about = about, .part = &part};
	const Pprof__Profile *p = scene__encode(a, &config, &stats);

	tap__ok(scene__commented(p, "R: 4.2.2") && scene__commented(p, "host: here") &&
			p->period == 10000000 && p->duration_nanos == 2000000000,
		"a part has the comments of the whole; R's version is that of its "
		"processes");
}

TEST(too_large)
{
	static char random[9][8001];
	const struct frame *small = stack__frame(FRAME_R, "f", NULL, 0), *large[9];
	struct encoded sum;
	size_t n;
	long samples;

	for (int i = 0; i < 9; i++) {
		for (int k = 0; k < 8000; k++)
			random[i][k] = (char)('A' + some(26));
		large[i] = stack__frame(FRAME_R, random[i], NULL, 0);
	}
	aggregate__free(a);
	a = AGGREGATE(.max = 16 << 20);
	for (int i = 0; i < 5; i++)
		scene__add(a, &processes[0],
			   stack__of(i == 2 ? 9 : 1, i == 2 ? large : &small, i ? "f.R" : NULL,
				     (uint32_t)i),
			   i == 2 ? 7 : 1);
	samples = encode_all((struct profile_part){.size = 10000}, &n, &sum);
	tap__ok(samples == 4 && sum.left_out == 7 && n == 2,
		"a row that is too large by itself is left out and counted: %ld, %llu", samples,
		(unsigned long long)sum.left_out);
	samples = encode_all((struct profile_part){.size = 10000, .first = 2, .rows = 1}, &n, &sum);
	tap__ok(samples == 2 && sum.left_out == 7, "wherever it is");
	samples = encode_all((struct profile_part){.size = 10}, &n, &sum);
	tap__ok(!samples && sum.left_out == 11, "where nothing fits all is left out");
}

TEST(refused)
{
	struct writer_config config = {.about = about};

	buf__str(&out, "before");
	tap__ok(encode__profile(&out, formats__find("rprof"), &config, a, &stats) == -ENOTSUP &&
			encode__profile(&out, formats__find("folded"), &config, a, &stats) ==
				-ENOTSUP,
		"formats of samples and of rows are refused");
	tap__ok(!encode__profile(&out, formats__find("speedscope"), &config, a, &stats) &&
			out.len > 1000,
		"others are written");
	out.len = 6;
	config.part = &(struct profile_part){.size = 100};
	tap__ok(encode__profile(&out, formats__find("speedscope"), &config, a, &stats) == -ENOTSUP,
		"but not in parts");
	tap__ok(encode__profile(&out, formats__find("pprof"), &config, a, &stats) == -EMSGSIZE &&
			out.len == 6 && !memcmp(out.data, "before", 6),
		"of what is too large nothing is left");
}

/* Weights are in ns.  Samples without a time, as of folded stacks behind an Rprof.out, are last. */
TEST(speedscope)
{
	static const char *const parts[] = {
		"\"R 10\"",
		"\"weights\": [20000000, 10000000, 30000000], \"endValue\": 60000000}",
		"\"Rscript 11\"",
		"\"weights\": [40000000], \"endValue\": 40000000}",
	};
	const struct writer_config config = {.about = about};
	struct aggregate *some = AGGREGATE(.timeline = true);
	const char *at;

	for (int i = 0; i < 4; i++) {
		struct sample s = sample_of(i);

		s.time = i % 2 ? 1000 : 0;
		aggregate__put(some, &processes[i / 3], s);
	}
	tap__bail_if(encode__profile(&out, formats__find("speedscope"), &config, some, &stats) ||
			     buf__add(&out, "", 1),
		     "not encoded");
	at = out.data;
	for (size_t i = 0; i < COUNT(parts) && at; i++)
		at = strstr(at, parts[i]);
	tap__ok(at, "each process has its samples, the one with a time first: %s", out.data);
	aggregate__free(some);
}
