/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/errmsg.h"
#include "target/target.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/linux/hidden/debug_file.h"
#include "target/linux/hidden/hidden.h"
#include "target/layouts.h"
#include "target/linux/elf.h"
#include "target/linux/mapped_file.h"
#include "target/linux/scan.h"
#include "os/linux/proc_maps.h"
#include "os/linux/refusal.h"
#include "os/proc.h"
#include "target/variables.h"

#define EXECS_MAX 4
#define LOADS_MAX 4u /* libR.so mapped more than once: see that many */

/* One file that is mapped into the target. */
struct load {
	struct proc_map map;
	int fd;
	struct elf_file elf;
	uint64_t bias;
};

int target__denied(const struct target *t, const char *what, struct errmsg *f)
{
	const bool file = strcmp(what, "memory") != 0;
	struct errmsg why;

	return errmsg__set(f, -EACCES, "not allowed to read the %s of process %d (%s): %s", what,
			   (int)t->pid, t->comm,
			   refusal__target(file ? REFUSAL_FILE : REFUSAL_READ, t->pid, &why));
}

/* @what of @t could not be opened: @err. */
static int target__unopened(const struct target *t, const char *what, int err, struct errmsg *f)
{
	if (err == -EACCES || err == -EPERM)
		return target__denied(t, what, f);
	if (shortage__is(err))
		return shortage__fault(t->pid, err, f);
	return target__gone(t, f);
}

static int target__not_r(const struct target *t, struct errmsg *f)
{
	return errmsg__set(
		f, -ENOEXEC,
		"process %d (%s) does not run R: neither libR.so nor R's own program is mapped",
		(int)t->pid, t->comm);
}

/* Who is it?  Fill what /proc says without special rights. */
static int target__identify(pid_t pid, struct target *t, struct proc *p, struct errmsg *f)
{
	int err = proc__read(pid, p);
	struct errmsg why;

	t->pid = pid;
	if (shortage__is(err))
		return shortage__fault(pid, err, f);
	if (err && refusal__hidden(pid, &why))
		return errmsg__set(f, -EACCES, "process %d is not visible: %s", (int)pid, why.text);
	if (err)
		return errmsg__set(f, -ESRCH, "no process %d: it has ended or never existed",
				   (int)pid);
	memcpy(t->comm, p->comm, sizeof(t->comm));
	t->start_time = p->start_time;
	t->uid = p->uid;
	if (p->tgid != pid)
		return errmsg__set(f, -EINVAL,
				   "%d is a thread of process %d (%s): give the process, --pid %d",
				   (int)pid, (int)p->tgid, p->comm, (int)p->tgid);
	if (p->kernel)
		return errmsg__set(f, -ENOEXEC,
				   "process %d (%s) does not run R: it is a kernel thread",
				   (int)pid, p->comm);
	if (p->ending)
		return errmsg__set(f, -ESRCH, "process %d (%s) has ended already", (int)pid,
				   p->comm);
	return 0;
}

static void load__close(struct load *l)
{
	elf_file__close(&l->elf);
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
}

/* Open @l->map's file; where it is loaded. */
static int load__open(struct load *l, const struct target *t, struct errmsg *f)
{
	struct target_file which;
	int err;

	l->fd = mapped_file__open(t->pid, &l->map, &which, f);
	if (l->fd < 0)
		return l->fd;
	err = elf_file__open(&l->elf, l->fd, l->map.path, f);
	if (err)
		return err;
	if (elf_file__bias(&l->elf, l->map.start, l->map.offset, &l->bias))
		return errmsg__set(
			f, -EBADMSG,
			"%s is damaged: process %d runs code where its headers have none",
			l->map.path, (int)t->pid);
	return 0;
}

/*
 * The executable of the process, if it may be read: R itself may be in it, or copies of libR.so's
 * variables, which an executable that uses them gets from the linker (R_X86_64_COPY) and which
 * then count, because the dynamic linker looks there first.
 */
static int load__open_exe(struct load *l, const struct target *t, struct errmsg *f)
{
	char path[4096];
	bool deleted, found;
	FILE *maps;
	int err;

	l->fd = proc__open(t->pid, "exe");
	err = l->fd < 0 ? l->fd : proc__exe(t->pid, path, sizeof(path), &deleted);
	if (err)
		return target__unopened(t, "program", err, f);
	err = elf_file__open(&l->elf, l->fd, path, f);
	if (err)
		return err;
	maps = proc__fopen(t->pid, "maps");
	if (!maps)
		return target__unopened(t, "memory", -errno, f);
	found = proc_maps__file(maps, path, deleted, &l->map);
	fclose(maps);
	if (!found && !l->map.end) /* an exec maps the stack first (load_elf_binary(), Linux) */
		return target__not_begun(t, f);
	if (!found || elf_file__bias(&l->elf, l->map.start, l->map.offset, &l->bias))
		return errmsg__set(f, -EBADMSG,
				   "cannot find where the program %s of process %d is mapped", path,
				   (int)t->pid);
	return 0;
}

/* "Version: 4.2.2" in the DESCRIPTION of package base, for builds whose constants do not tell. */
static void target__version_of_base(struct target *t, const struct proc_map *map)
{
	char path[600], line[256];
	const char *tail = t->load == TARGET_LIBR ? "/lib/" : "/bin/exec/";
	char *at = NULL, *next;
	FILE *in;
	int fd;

	if (map->deleted || map->cut)
		return; /* what lies there now is another R */
	snprintf(path, sizeof(path), "%s", t->path);
	for (next = strstr(path, tail); next; next = strstr(next + 1, tail))
		at = next;
	if (!at)
		return;
	snprintf(at, sizeof(path) - (size_t)(at - path), "/library/base/DESCRIPTION");
	fd = proc__open_in_root(t->pid, path);
	in = fd >= 0 ? fdopen(fd, "r") : NULL;
	if (!in) {
		if (fd >= 0)
			close(fd);
		return;
	}
	for (int i = 0; i < 100 && fgets(line, sizeof(line), in); i++) {
		line[strcspn(line, "\r\n")] = '\0';
		if (!strncmp(line, "Version: ", 9) && layouts__parse(line + 9)) {
			snprintf(t->version, sizeof(t->version), "%.15s", line + 9);
			break;
		}
	}
	fclose(in);
}

/* R's version and the layout that goes with it. */
static int target__layout(struct target *t, const struct load *l, struct errmsg *f)
{
	enum layouts_arch arch =
		l->elf.machine == EM_AARCH64 ? LAYOUTS_AARCH64_LINUX : LAYOUTS_X86_64_LINUX;

	if (elf_file__version(&l->elf, t->version))
		target__version_of_base(t, &l->map);
	return variables__layout(t, arch, f);
}

/* R's hidden variables, from the file @fd or its debug file; what is not found stays 0. */
static void target__derive(struct target *t, int fd)
{
	const struct xr_layout *layout = &t->row.layout;
	struct xr_row *row = &t->row;
	struct hidden d = {0};
	unsigned int n = 0;
	int debug_fd, err = -ENOENT;
	/* libelf loses the tables of a handle that is then read as a whole: a separate one */
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL), *debug;

	if (!elf || hidden__run(elf, layout->bcbody, layout->bcpc, &d))
		goto cleanup;
	while (err && (debug = debug_file__next(elf, fd, t->pid, t->path, &n, &debug_fd))) {
		err = hidden__from_debug(debug, &d);
		elf_end(debug);
		close(debug_fd);
	}
	t->how_lines = d.how_lines;
	t->how_gc = d.how_gc;
	t->how_memory = d.how_memory;
	t->srcref = d.srcref;
	row->bc_body_at = d.bc_body ? d.bc_body + t->load_bias : 0;
	row->bc_pc_at = d.bc_pc ? d.bc_pc + t->load_bias : 0;
	row->gc_at = d.gc_running ? d.gc_running + t->load_bias : 0;
	row->gc_size = d.gc_size;
	row->gc_count_at = d.gc_count ? d.gc_count + t->load_bias : 0;
	row->gc_begin = d.gc_begin ? d.gc_begin + t->load_bias : 0;
	row->gc_end = d.gc_end ? d.gc_end + t->load_bias : 0;
	row->small_at = d.small ? d.small + t->load_bias : 0;
	row->large_at = d.large ? d.large + t->load_bias : 0;
	row->nodes_at = d.nodes ? d.nodes + t->load_bias : 0;
	row->dups_at = d.dups ? d.dups + t->load_bias : 0;
	row->node_size = d.node_size;
cleanup:
	elf_end(elf);
}

/*
 * The path as the target names it: the kernel shows paths from our root, which for a target in
 * a plain chroot begin with the chroot's.
 */
static void target__path(struct target *t, const char *shown)
{
	char root[4096];
	ssize_t n = proc__link(t->pid, "root", root, sizeof(root));

	if (n > 1 && !strncmp(shown, root, (size_t)n) && shown[n] == '/')
		shown += n;
	snprintf(t->path, sizeof(t->path), "%.255s", shown);
}

static void symbols__want(struct target_symbol symbols[TARGET_VARIABLES])
{
	for (int i = 0; i < TARGET_VARIABLES; i++)
		symbols[i] = (struct target_symbol){.name = variables__name(i)};
}

/*
 * Take R from @r, with the executable @exe (NULL: that is @r, or cannot be read) before it in
 * the dynamic linker's order.
 */
static int target__take(struct target *t, struct load *r, struct load *exe, uint32_t want,
			struct errmsg *f)
{
	struct target_symbol symbols[TARGET_VARIABLES], before[TARGET_VARIABLES];
	uint64_t at[TARGET_VARIABLES];
	int err;

	t->load_bias = r->bias;
	mapped_file__which(r->fd, &t->file);
	target__path(t, r->map.path);
	symbols__want(symbols);
	symbols__want(before);
	err = elf_file__symbols(&r->elf, symbols, TARGET_VARIABLES, true);
	if (err < 0)
		return errmsg__set(f, err, "%s is damaged: its symbol table cannot be read",
				   t->path);
	if (!symbols[TARGET_CONTEXT].value || !symbols[TARGET_NIL].value) {
		if (t->load == TARGET_STATIC)
			return target__not_r(t, f);
		return errmsg__set(
			f, -EBADMSG,
			"%s is damaged, or not R's: it does not export R_GlobalContext and "
			"R_NilValue",
			t->path);
	}
	if (exe && elf_file__symbols(&exe->elf, before, TARGET_VARIABLES, false) < 0)
		symbols__want(before);
	for (size_t i = 0; i < TARGET_VARIABLES; i++) {
		at[i] = symbols[i].value ? symbols[i].value + r->bias : 0;
		if (before[i].value)
			at[i] = before[i].value + exe->bias;
	}
	err = variables__read(t, at, f);
	if (!err)
		err = target__layout(t, r, f);
	if (!err && (want & TARGET_HIDDEN))
		target__derive(t, r->fd);
	return err;
}

/* libR.so where it is mapped (several times, if it must be: then the first that is in use). */
static int target__libr(struct target *t, const struct proc_map *maps, size_t n, uint32_t want,
			struct errmsg *f)
{
	struct load exe = {.fd = -1};
	bool have_exe = !load__open_exe(&exe, t, NULL);
	int err = -ENOEXEC;

	t->load = TARGET_LIBR;
	for (size_t i = 0; i < n && err; i++) {
		struct load r = {.fd = -1, .map = maps[i]};

		err = load__open(&r, t, f);
		if (!err)
			err = target__take(t, &r, have_exe ? &exe : NULL, want, f);
		load__close(&r);
	}
	load__close(&exe);
	return err;
}

/* R in the executable itself. */
static int target__static(struct target *t, uint32_t want, struct errmsg *f)
{
	struct load exe = {.fd = -1};
	char path[4096];
	bool deleted;
	int err = load__open_exe(&exe, t, f);

	t->load = TARGET_STATIC;
	if (!err)
		err = target__take(t, &exe, NULL, want, f);
	else if ((err == -ENOTSUP || err == -EBADMSG || err == -EAGAIN) &&
		 (proc__exe(t->pid, path, sizeof(path), &deleted) || !proc_maps__is_r(path)))
		err = target__not_r(t, f); /* some other program: what ails it is not our affair */
	load__close(&exe);
	return err;
}

/* No file is called libR.so, nor has the program R in it: one that has R's variables, by any name.
 */
static int target__renamed(struct target *t, uint32_t want, struct errmsg *f)
{
	FILE *maps = proc__fopen(t->pid, "maps");
	struct proc_map map;
	unsigned int looked = 0;
	int err = -ENOEXEC;

	if (!maps)
		return target__unopened(t, "memory", -errno, f);
	while (err == -ENOEXEC && looked++ < PROGRAM_LIBRARIES_MAX &&
	       proc_maps__next_library(maps, &map)) {
		int fd = proc_maps__open(t->pid, &map, NULL);

		if (fd >= 0 && program__file_holds_r(fd))
			err = target__libr(t, &map, 1, want, f);
		if (fd >= 0)
			close(fd);
	}
	fclose(maps);
	return err;
}

/* target__find(), except for an exec that comes between. */
static int target__look(pid_t pid, uint32_t want, struct target *t, struct errmsg *f)
{
	struct proc_map found[LOADS_MAX];
	size_t n, lines;
	FILE *maps = proc__fopen(pid, "maps");
	int err;

	if (!maps)
		return target__unopened(t, "memory", -errno, f);
	n = proc_maps__find(maps, found, LOADS_MAX, &lines);
	err = ferror(maps) ? errno : 0;
	fclose(maps);
	if (err == EACCES || err == EPERM)
		return target__denied(t, "memory", f);
	if (n)
		return target__libr(t, found, n, want, f);
	err = target__static(t, want, f);
	/* if it finds none, @f stays as target__static() filled it */
	if (err == -ENOEXEC && want & TARGET_ANY_NAME)
		err = target__renamed(t, want, f);
	return err;
}

/* @t was looked at, with the result @err, and is still there. */
static int target__still(const struct target *t, int err, struct errmsg *f)
{
	if (err == -ESRCH)
		return errmsg__set(f, -EAGAIN,
				   "process %d (%s) changed during inspection: try again",
				   (int)t->pid, t->comm);
	return err;
}

int target__find(pid_t pid, uint32_t want, struct target *t, struct errmsg *f)
{
	struct proc before, after;
	int err, read;

	for (int i = 0; i < EXECS_MAX; i++) {
		memset(t, 0, sizeof(*t));
		err = target__identify(pid, t, &before, f);
		if (err)
			return err;
		err = target__look(pid, want, t, f);
		read = proc__read(pid, &after);
		if (shortage__is(read))
			return shortage__fault(pid, read, f);
		if (read || after.start_time != before.start_time || after.ending)
			return target__gone(t, f);
		if (after.stack != before.stack)
			continue; /* what was read is of two programs */
		if (err == -EBADMSG && !after.stack)
			return target__not_begun(t, f); /* its exec maps it now */
		if (!err) {
			t->stack = after.stack;
			t->row.start_time = t->start_time;
			t->row.pid = (uint32_t)pid;
		}
		return target__still(t, err, f);
	}
	return errmsg__set(f, -EAGAIN, "process %d (%s) keeps executing new programs: try again",
			   (int)pid, t->comm);
}

bool target__same(const struct target *t)
{
	return proc__start_time(t->pid) == t->start_time;
}

bool target__replaced(const struct target *t)
{
	struct proc p;

	return t->stack && !proc__read(t->pid, &p) && p.start_time == t->start_time && p.stack &&
	       p.stack != t->stack;
}
