/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engine/bpf/places.h"

#include <errno.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "base/parse.h"
#include "engine/bpf/probe_file.h"
#include "os/linux/cpus.h"
#include "os/linux/refusal.h"
#include "os/linux/rights.h"
#include "os/proc.h"

#define UPROBE_PMU "/sys/bus/event_source/devices/uprobe"
#define CPUS_MAX   8192

/* Of `config`: UPROBE_PMU/format.  kernel/events/core.c has both since Linux 4.20. */
#define PROBE_RETURNS	1u
#define PROBE_SEMAPHORE 32

const char *places__tracefs(void)
{
	static const char *const paths[] = {
		"/sys/kernel/tracing/events",
		"/sys/kernel/debug/tracing/events",
	};

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		if (!access(paths[i], F_OK) || errno == EACCES)
			return paths[i];
	return NULL;
}

static int file__number(const char *path, uint32_t *number)
{
	uint64_t value = 0;
	char line[32];
	int err = proc__line(path, line, sizeof(line));

	err = err ? err : parse__u64(line, UINT32_MAX, &value);
	*number = (uint32_t)value;
	return err;
}

int places__uprobe_type(uint32_t *type)
{
	return file__number(UPROBE_PMU "/type", type);
}

bool places__may_probe(void)
{
	return !rights__exceed() && !refusal__in_namespace() &&
	       rights__permitted() >> CAP_SYS_ADMIN & 1;
}

bool places__can_probe(void)
{
	uint32_t type;

	return places__may_probe() && !places__uprobe_type(&type);
}

/* Some CPU that is online: each will do. */
static int cpu__any(void)
{
	static bool online[CPUS_MAX];
	int n = libbpf_num_possible_cpus();

	if (n <= 0 || n > CPUS_MAX || cpus__online(online, (size_t)n))
		return 0;
	for (int cpu = 0; cpu < n; cpu++)
		if (online[cpu])
			return cpu;
	return 0;
}

/* Open @attr and attach the program.  0 or a negative errno. */
static int places__add(struct places *p, struct perf_event_attr *attr, int prog_fd)
{
	int *more = realloc(p->fds, (p->n + 1) * sizeof(*more)), fd;

	if (!more)
		return -ENOMEM;
	p->fds = more;
	attr->size = sizeof(*attr);
	attr->disabled = 1; /* the program runs all the same, and perf counts nothing */
	fd = (int)syscall(SYS_perf_event_open, attr, -1, cpu__any(), -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return -errno;
	p->fds[p->n++] = fd;
	return ioctl(fd, PERF_EVENT_IOC_SET_BPF, prog_fd) ? -errno : 0;
}

static int tracepoint__open(struct places *p, const struct event_name *event, int prog_fd,
			    struct errmsg *f)
{
	const char *tracefs = places__tracefs();
	struct perf_event_attr attr = {.type = PERF_TYPE_TRACEPOINT, .sample_period = 1};
	char path[PATH_MAX];
	uint32_t id = 0;
	int err;

	if (!tracefs)
		return errmsg__set(f, -ENOENT,
				   "--event %s: the kernel's tracepoints are not visible; mount "
				   "tracefs: mount -t tracefs tracefs /sys/kernel/tracing",
				   event->text);
	snprintf(path, sizeof(path), "%s/%.*s/%.*s/id", tracefs, (int)event->group.len,
		 event->group.at, (int)event->name.len, event->name.at);
	err = file__number(path, &id);
	if (err == -ENOENT)
		return errmsg__set(
			f, err,
			"--event %s: this kernel has no such tracepoint; it lists them in "
			"%s",
			event->text, tracefs);
	if (err)
		return errmsg__set(
			f, err, "--event %s: %s: %s%s", event->text, path, strerror(-err),
			err == -EACCES ? "; run as root, or let this user read it: mount -o "
					 "remount,gid=GROUP,mode=750 /sys/kernel/tracing"
				       : "");
	attr.config = id;
	err = places__add(p, &attr, prog_fd);
	return err ? errmsg__set(f, err, "--event %s: cannot attach to it: %s", event->text,
				 strerror(-err))
		   : 0;
}

/* The path by which the file of @event can be opened, to @path: as it is, or as a process has it.
 */
static int file__find(const struct event_name *event, const struct engine_config *config,
		      char path[PATH_MAX], struct errmsg *f)
{
	char plain[PATH_MAX];
	int err;

	if (!event_part__copy(&event->path, plain, sizeof(plain)))
		return errmsg__set(f, -ENAMETOOLONG, "--event %s: the path is too long",
				   event->text);
	snprintf(path, PATH_MAX, "%s", plain);
	if (!access(path, R_OK))
		return 0;
	err = -errno;
	for (size_t i = 0; i < config->npids && err == -ENOENT; i++) {
		int len = snprintf(path, PATH_MAX, "/proc/%d/root%s", (int)config->pids[i], plain);

		if (len < PATH_MAX && !access(path, R_OK))
			return 0;
	}
	return errmsg__set(f, err, "--event %s: %s: %s", event->text, plain, strerror(-err));
}

static int probe__fault(struct errmsg *f, int err, const struct event_name *event)
{
	const char *what = strerror(-err);
	struct errmsg why;

	if (err == -524) /* ENOTSUPP, of the kernel: arch_uprobe_analyze_insn() */
		what = "the instruction there cannot be probed";
	else if (err == -EMFILE)
		what = "too many open files; raise the limit (ulimit -n)";
	else if (refusal__is(REFUSAL_PROBE, err))
		what = refusal__call(REFUSAL_PROBE, &why);
	return errmsg__set(f, err, "--event %s: cannot attach to it: %s", event->text, what);
}

static int probes__open(struct places *p, const struct event_name *event,
			const struct engine_config *config, int prog_fd, struct errmsg *f)
{
	struct probe_place *found = NULL;
	char path[PATH_MAX];
	uint32_t type, n = 0;
	int err;

	err = places__uprobe_type(&type);
	if (err)
		return errmsg__set(f, -ENOTSUP,
				   "--event %s: this kernel has no uprobes for perf (%s: %s)",
				   event->text, UPROBE_PMU, strerror(-err));
	err = file__find(event, config, path, f);
	if (!err)
		err = probe_file__places(path, event, &found, &n, f);
	for (uint32_t i = 0; i < n && !err; i++) {
		struct perf_event_attr attr = {
			.type = type,
			.config = found[i].semaphore << PROBE_SEMAPHORE,
			.config1 = (uintptr_t)path,
			.config2 = found[i].offset,
			.sample_period = 1,
		};

		err = places__add(p, &attr, prog_fd);
		if (err)
			probe__fault(f, err, event);
	}
	free(found);
	return err;
}

int places__open(struct places *p, const struct event_name *event,
		 const struct engine_config *config, int prog_fd, struct errmsg *f)
{
	const unsigned int uses = RIGHTS_TARGET | RIGHTS_EVENTS | RIGHTS_FILES;
	const bool probe = event->kind != EVENT_TRACEPOINT;
	uint64_t raised;
	int err;

	if (probe && rights__exceed())
		return errmsg__set(
			f, -EPERM,
			"--event %s: root only, because it affects all users who run that file",
			event->text);
	raised = rights__raise(uses | (probe ? RIGHTS_PROBES : 0));
	if (event->kind == EVENT_TRACEPOINT)
		err = tracepoint__open(p, event, prog_fd, f);
	else
		err = probes__open(p, event, config, prog_fd, f);
	rights__lower(raised);
	return err;
}

int places__probe(struct places *p, const char *path, uint64_t offset, bool returns, int prog_fd)
{
	struct perf_event_attr attr = {
		.config = returns ? PROBE_RETURNS : 0,
		.config1 = (uintptr_t)path,
		.config2 = offset,
		.sample_period = 1,
	};
	uint64_t raised;
	int err = places__uprobe_type(&attr.type);

	if (err)
		return err;
	raised = rights__raise(RIGHTS_TARGET | RIGHTS_EVENTS | RIGHTS_FILES | RIGHTS_PROBES);
	err = places__add(p, &attr, prog_fd);
	rights__lower(raised);
	return err;
}

void places__close(struct places *p)
{
	for (uint32_t i = 0; i < p->n; i++)
		close(p->fds[i]);
	free(p->fds);
	*p = (struct places){0};
}
