/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * `xrprof-bpf info`: what this kernel, these privileges and this build can do, and what each of it
 * means.  It finds out by doing: the engines are opened, the event is opened, the map is made.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "engine/bpf/engine_bpf.h"
#include "base/json.h"
#include "engine/bpf/kernel.h"
#include "target/layouts.h"
#include "engine/bpf/perf_events.h"
#include "engine/engine.h"
#include "output/writer.h"
#include "base/log.h"
#include "base/version.h"

#define FREQ 99

/* What a look at one thing found. */
struct finding {
	bool ok;
	char value[sizeof(((struct errmsg *)0)->text)];
};

struct look {
	const char *name;
	const char *good, *bad; /* what it means when it is there, and when not */
	void (*run)(struct finding *out);
};

static void found(struct finding *out, bool ok, const char *value)
{
	out->ok = ok;
	snprintf(out->value, sizeof(out->value), "%s", value);
}

/* The first line of a file, or @none. */
static void file__line(const char *path, const char *none, char *buf, size_t size)
{
	FILE *in = fopen(path, "re");

	if (!in || !fgets(buf, (int)size, in))
		snprintf(buf, size, "%s", none);
	buf[strcspn(buf, "\n")] = '\0';
	if (in)
		fclose(in);
}

/* Effective capabilities of ours; CAP_SYS_ADMIN stands in for most of them. */
static uint64_t caps__effective(void)
{
	FILE *in = fopen("/proc/self/status", "re");
	unsigned long long set = 0;
	char line[256];

	while (in && fgets(line, sizeof(line), in))
		if (sscanf(line, "CapEff: %llx", &set) == 1)
			break;
	if (in)
		fclose(in);
	if (set >> CAP_SYS_ADMIN & 1)
		set |= 1ULL << CAP_BPF | 1ULL << CAP_PERFMON | 1ULL << CAP_CHECKPOINT_RESTORE;
	return set;
}

static void look__kernel(struct finding *out)
{
	struct utsname name;
	char signature[256];

	if (uname(&name)) {
		found(out, false, "unknown");
		return;
	}
	file__line("/proc/version_signature", "", signature, sizeof(signature));
	out->ok = !kernel__freeze_prone(name.release, name.version, signature);
	snprintf(out->value, sizeof(out->value), "Linux %.64s %.64s", name.release, name.machine);
}

static void look__event(struct finding *out)
{
	struct perf_events *events;
	const char *why;
	struct errmsg f;

	if (perf_events__new(&events, FREQ, -1, &why, &f)) {
		found(out, false, f.text);
		return;
	}
	found(out, true, perf_events__name(events));
	perf_events__free(events);
}

static void look__ring(struct finding *out)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, NULL, 0, 0, (__u32)getpagesize(), NULL);

	found(out, fd >= 0, fd >= 0 ? "yes" : strerror(-fd));
	if (fd >= 0)
		close(fd);
}

static void look__helper(struct finding *out, enum bpf_func_id id)
{
	bool yes;

	/* where no program can be loaded, the probe says yes to everything */
	if (!(caps__effective() >> CAP_BPF & 1)) {
		found(out, false, "not known without cap_bpf");
		return;
	}
	yes = libbpf_probe_bpf_helper(BPF_PROG_TYPE_PERF_EVENT, id, NULL) == 1;
	found(out, yes, yes ? "yes" : "no");
}

static void look__loop(struct finding *out)
{
	look__helper(out, BPF_FUNC_loop);
}

static void look__regs(struct finding *out)
{
	look__helper(out, BPF_FUNC_task_pt_regs);
}

static void look__btf(struct finding *out)
{
	bool yes = !access("/sys/kernel/btf/vmlinux", R_OK);

	found(out, yes, yes ? "/sys/kernel/btf/vmlinux" : strerror(errno));
}

static void look__pidns(struct finding *out)
{
	struct stat st;

	/* PROC_PID_INIT_INO, include/linux/proc_ns.h */
	if (stat("/proc/self/ns/pid", &st))
		found(out, false, strerror(errno));
	else
		found(out, true, st.st_ino == 0xEFFFFFFCU ? "the first" : "a nested one");
}

static void look__rate(struct finding *out)
{
	file__line("/proc/sys/kernel/perf_event_max_sample_rate", "unknown", out->value,
		   sizeof(out->value));
	out->ok = strcmp(out->value, "unknown") != 0;
}

static void look__layouts(struct finding *out)
{
	uint32_t last = 0;
	size_t n;
	const struct layouts_row *table = layouts__table(&n);

	for (size_t i = 0; i < n; i++)
		if (table[i].last > last)
			last = table[i].last;
	out->ok = true;
	snprintf(out->value, sizeof(out->value), "3.0.0 to %u.%u.%u", last >> 16, last >> 8 & 255,
		 last & 255);
}

static const struct look looks[] = {
	{"kernel", "BPF may read the memory of processes",
	 "this release can freeze when BPF does so: engine bpf is refused; update the kernel",
	 look__kernel},
	{"event",
	 "what makes the sampler tick: cycles are counted by the CPU, cpu-clock by a timer",
	 "nothing can make the sampler tick: engine bpf cannot be used", look__event},
	{"ring buffer", "samples reach the profiler in order, from all CPUs",
	 "engine bpf cannot be used (needs Linux 5.8 and CAP_BPF)", look__ring},
	{"bpf_loop", "stacks are walked to 32,768 contexts by a loop that is cheap to verify",
	 "the same is done by nested loops (bpf_loop came with Linux 5.17)", look__loop},
	{"bpf_task_pt_regs", "the user's stack pointer is asked for",
	 "the user's stack pointer is read from where this architecture keeps it (helper: Linux "
	 "5.15)",
	 look__regs},
	{"BTF", "the kernel says where its fields are",
	 "give a file that says where this kernel's fields are with --btf FILE", look__btf},
	{"pid namespace", "pids are given and shown as this namespace has them",
	 "pids cannot be told apart", look__pidns},
	{"rate limit", "samples a second and CPU that the kernel allows", "not known", look__rate},
	{"R versions", "layouts known; a newer R is validated before it is profiled", "",
	 look__layouts},
};

#define NLOOKS (sizeof(looks) / sizeof(looks[0]))

/* Capabilities, and what lacks without them. */
static const struct {
	unsigned int number;
	const char *name;
	const char *without;
} caps[] = {
	{CAP_BPF, "cap_bpf", "engine bpf cannot load its programs"},
	{CAP_PERFMON, "cap_perfmon",
	 "engine bpf cannot attach them, and --all cannot see new processes"},
	{CAP_SYS_PTRACE, "cap_sys_ptrace", "only this user's own processes can be profiled"},
	{CAP_DAC_READ_SEARCH, "cap_dac_read_search",
	 "an R that this user may not read cannot be profiled"},
	{CAP_CHECKPOINT_RESTORE, "cap_checkpoint_restore",
	 "an R in a container, or upgraded while it runs, is looked for by its path only"},
};

#define NCAPS (sizeof(caps) / sizeof(caps[0]))

static bool engine__works(const struct engine_ops *ops, bool verbose, struct errmsg *f)
{
	struct engine_config config = {.freq = FREQ, .verbose = verbose};
	struct engine *engine;

	if (ops->open(&engine, &config, f))
		return false;
	ops->close(engine);
	return true;
}

static int info__text(bool verbose)
{
	uint64_t set = caps__effective();
	struct finding out;
	struct errmsg f;

	printf("%s %s\n\n", XR_PROGRAM, XR_VERSION);
	for (size_t i = 0; i < NLOOKS; i++) {
		looks[i].run(&out);
		printf("%-18s %-3s %s\n%22s %s\n", looks[i].name, out.ok ? "ok" : "-", out.value,
		       "", out.ok ? looks[i].good : looks[i].bad);
	}
	printf("\n");
	for (size_t i = 0; i < NCAPS; i++) {
		bool have = set >> caps[i].number & 1;

		printf("%-22s %s%s%s\n", caps[i].name, have ? "ok" : "-",
		       have ? "" : "   without it ", have ? "" : caps[i].without);
	}
	printf("\n");
	for (const struct engine_ops *const *e = engines__all(); *e; e++) {
		bool works = engine__works(*e, verbose, &f);

		printf("engine %-11s %-3s %s\n", (*e)->name, works ? "ok" : "-",
		       works ? (*e)->help : f.text);
	}
	return fflush(stdout) ? -EIO : 0;
}

static int info__json(bool verbose)
{
	uint64_t set = caps__effective();
	struct finding out;
	struct errmsg f;
	struct json j;

	json__begin(&j, stdout);
	json__object(&j, NULL);
	json__str(&j, "version", XR_VERSION);
	json__array(&j, "features");
	for (size_t i = 0; i < NLOOKS; i++) {
		looks[i].run(&out);
		json__object(&j, NULL);
		json__str(&j, "name", looks[i].name);
		json__bool(&j, "ok", out.ok);
		json__str(&j, "value", out.value);
		json__str(&j, "meaning", out.ok ? looks[i].good : looks[i].bad);
		json__close(&j);
	}
	json__close(&j);
	json__array(&j, "capabilities");
	for (size_t i = 0; i < NCAPS; i++) {
		json__object(&j, NULL);
		json__str(&j, "name", caps[i].name);
		json__bool(&j, "ok", set >> caps[i].number & 1);
		json__str(&j, "without", caps[i].without);
		json__close(&j);
	}
	json__close(&j);
	json__array(&j, "engines");
	for (const struct engine_ops *const *e = engines__all(); *e; e++) {
		bool works = engine__works(*e, verbose, &f);

		json__object(&j, NULL);
		json__str(&j, "name", (*e)->name);
		json__bool(&j, "ok", works);
		json__str(&j, "clock", (*e)->clock);
		json__str(&j, "reason", works ? NULL : f.text);
		json__close(&j);
	}
	json__close(&j);
	json__close(&j);
	return json__end(&j);
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
static int info__programs(bool as_json, const char *btf, bool verbose, struct errmsg *f)
{
	struct engine_config config = {
		.freq = FREQ,
		.capture = XR_CAPTURE,
		.btf = btf,
		.verbose = verbose,
	};
	struct json j;
	int err, end;

	if (!as_json) {
		err = engine_bpf__programs(&config, program__print, NULL, f);
		return err ? err : fflush(stdout) ? -EIO : 0;
	}
	json__begin(&j, stdout);
	json__array(&j, NULL);
	err = engine_bpf__programs(&config, program__json, &j, f);
	json__close(&j);
	end = json__end(&j);
	return err ? err : end;
}

struct info_options {
	bool help, json, programs, verbose;
	const char *btf;
};

static const struct option_row rows[] = {
	{
		.name = "json",
		.letter = 'j',
		.help = "as one JSON object",
		.type = OPTION_FLAG,
		.at = offsetof(struct info_options, json),
	},
	{
		.name = "programs",
		.letter = 'P',
		.help = "load the BPF programs and say what the verifier made of each: program "
			"NAME insns N states N usec N",
		.type = OPTION_FLAG,
		.at = offsetof(struct info_options, programs),
	},
	{
		.name = "btf",
		.arg = "FILE",
		.help = "the kernel's types, for kernels without /sys/kernel/btf",
		.type = OPTION_STRING,
		.at = offsetof(struct info_options, btf),
	},
	{
		.name = "verbose",
		.letter = 'v',
		.help = "show what libbpf says",
		.type = OPTION_FLAG,
		.at = offsetof(struct info_options, verbose),
	},
	{
		.name = "help",
		.letter = 'h',
		.help = "print this and exit",
		.type = OPTION_FLAG,
		.last = true,
		.at = offsetof(struct info_options, help),
	},
	{0},
};

static int info__main(int argc, char **argv)
{
	struct info_options o = {0};
	struct errmsg f = {""};
	int err = cmd__options(&cmd_info, &o, argc, argv);

	if (err)
		return err;
	if (o.help)
		return cmd__help(&cmd_info);
	if (!o.verbose)
		libbpf_set_print(NULL);
	if (o.programs)
		err = info__programs(o.json, o.btf, o.verbose, &f);
	else
		err = o.json ? info__json(o.verbose) : info__text(o.verbose);
	if (err)
		log__line("%s", f.text[0] ? f.text : strerror(-err));
	return err ? CMD_FAILED : CMD_OK;
}

const struct subcommand cmd_info = {
	.name = "info",
	.help = "what this machine can do, and what that means",
	.usage = {"info [options]"},
	.about = "What this kernel, these privileges and this build can do, and what it means.",
	.options = rows,
	.run = info__main,
};
