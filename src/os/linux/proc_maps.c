/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#define _GNU_SOURCE
#include "base/errmsg.h"
#include "os/linux/proc_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "os/linux/refusal.h"
#include "os/linux/rights.h"
#include "os/proc.h"

#define DELETED	 " (deleted)"
#define PROBE	 (64u << 10) /* bytes of code compared */
#define LIBR_MIN (1u << 20)  /* bytes of libR.so's code: 1.9 MiB in R 3.0, more in all others */

/* A number in @base at *@p, which must be followed by @stop; moves past that. */
static int number__parse(const char **p, const char *end, unsigned int base, char stop,
			 uint64_t *out)
{
	const char *start = *p;
	uint64_t value = 0;

	for (; *p < end; (*p)++) {
		unsigned int digit;

		if (**p >= '0' && **p <= '9')
			digit = (unsigned int)(**p - '0');
		else if (base == 16 && **p >= 'a' && **p <= 'f')
			digit = (unsigned int)(**p - 'a') + 10;
		else
			break;
		if (value > (UINT64_MAX - digit) / base)
			return -EBADMSG;
		value = value * base + digit;
	}
	if (*p == start || *p == end || **p != stop)
		return -EBADMSG;
	(*p)++;
	*out = value;
	return 0;
}

/* start-end perms offset major:minor inode [blanks path] */
int proc_maps__parse(const char *line, size_t len, struct proc_map *map)
{
	const char *p = line, *end = line + len;
	uint64_t major, minor;
	size_t n;

	memset(map, 0, sizeof(*map));
	if (number__parse(&p, end, 16, '-', &map->start) ||
	    number__parse(&p, end, 16, ' ', &map->end) || map->start >= map->end)
		return -EBADMSG;
	if (end - p < 5 || p[4] != ' ')
		return -EBADMSG;
	map->exec = p[2] == 'x';
	p += 5;
	if (number__parse(&p, end, 16, ' ', &map->offset) ||
	    number__parse(&p, end, 16, ':', &major) || number__parse(&p, end, 16, ' ', &minor) ||
	    major > UINT32_MAX || minor > UINT32_MAX)
		return -EBADMSG;
	map->dev_major = (uint32_t)major;
	map->dev_minor = (uint32_t)minor;
	for (map->inode = 0; p < end && *p >= '0' && *p <= '9'; p++) {
		if (map->inode > (UINT64_MAX - 9) / 10)
			return -EBADMSG;
		map->inode = map->inode * 10 + (uint64_t)(*p - '0');
	}
	if (p < end && *p != ' ')
		return -EBADMSG;
	while (p < end && *p == ' ')
		p++;
	n = (size_t)(end - p);
	if (n > strlen(DELETED) && !memcmp(end - strlen(DELETED), DELETED, strlen(DELETED))) {
		map->deleted = true;
		n -= strlen(DELETED);
	}
	if (memchr(p, '\0', n))
		return -EBADMSG;
	if (n >= sizeof(map->path)) {
		/* the last part of the name matters most here, but half a path opens nothing */
		const char *slash = memrchr(p, '/', n);
		size_t tail = slash ? n - (size_t)(slash - p) : n;

		map->cut = true;
		if (tail >= sizeof(map->path))
			tail = sizeof(map->path) - 1;
		p += n - tail;
		n = tail;
	}
	memcpy(map->path, p, n);
	map->path[n] = '\0';
	return 0;
}

bool proc_maps__is_libr(const char *path)
{
	const char *name = strrchr(path, '/');

	name = name ? name + 1 : path;
	if (strncmp(name, "libR.so", 7))
		return false;
	return name[7] == '\0' || name[7] == '.';
}

bool proc_maps__is_r(const char *path)
{
	const char *name = strrchr(path, '/');

	return !strcmp(name ? name + 1 : path, "R");
}

size_t proc_maps__find(FILE *in, struct proc_map *found, size_t max, size_t *lines)
{
	struct proc_map map;
	char *line = NULL;
	size_t room = 0, n = 0;
	ssize_t len;

	*lines = 0;
	while ((len = getline(&line, &room, in)) > 0) {
		(*lines)++;
		if (n == max || !memmem(line, (size_t)len, "libR.so", 7))
			continue;
		if (line[len - 1] == '\n')
			len--;
		if (!proc_maps__parse(line, (size_t)len, &map) && map.exec && map.inode &&
		    proc_maps__is_libr(map.path))
			found[n++] = map;
	}
	free(line);
	return n;
}

bool proc_maps__next(FILE *in, struct proc_map *map)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t len;
	bool yes = false;

	while (!yes && (len = getline(&line, &room, in)) > 0) {
		if (line[len - 1] == '\n')
			len--;
		yes = !proc_maps__parse(line, (size_t)len, map);
	}
	free(line);
	return yes;
}

/* The next executable mapping of a file. */
static bool map__next_code(FILE *in, struct proc_map *map)
{
	while (proc_maps__next(in, map))
		if (map->exec && map->inode)
			return true;
	return false;
}

bool proc_maps__next_library(FILE *in, struct proc_map *map)
{
	while (map__next_code(in, map))
		if (map->end - map->start >= LIBR_MIN)
			return true;
	return false;
}

bool proc_maps__at(FILE *in, uint64_t at, struct proc_map *found)
{
	while (map__next_code(in, found))
		if (at >= found->start && at < found->end)
			return true;
	return false;
}

bool proc_maps__file(FILE *in, const char *path, bool deleted, struct proc_map *found)
{
	struct proc_map map;

	found->end = 0;
	while (map__next_code(in, &map)) {
		*found = map;
		if (!map.cut && map.deleted == deleted && !strcmp(map.path, path))
			return true;
	}
	return false;
}

/* Are the first bytes of @map in the process' memory those of the file @fd? */
static bool map__same_bytes(pid_t pid, const struct proc_map *map, int fd)
{
	size_t len = map->end - map->start < PROBE ? (size_t)(map->end - map->start) : PROBE;
	char *mine = malloc(len), *its = malloc(len);
	bool same = mine && its;
	ssize_t n;

	if (same) {
		n = pread(fd, its, len, (off_t)map->offset);
		/* the last page is filled up with what is behind the segment */
		same = n >= 4096 && !proc__memory(pid, map->start, mine, (size_t)n) &&
		       !memcmp(mine, its, (size_t)n);
	}
	free(mine);
	free(its);
	return same;
}

/*
 * Is the file @fd the one that @map shows?  Only then it may stand for it.  The device tells,
 * except on file systems that show another one in maps than in stat(2) (overlayfs, btrfs).
 */
static bool map__is(pid_t pid, const struct proc_map *map, int fd)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return false;
	if (st.st_ino == map->inode && major(st.st_dev) == map->dev_major &&
	    minor(st.st_dev) == map->dev_minor)
		return true;
	return !map->deleted && map__same_bytes(pid, map, fd);
}

static int proc_maps__open_raised(pid_t pid, const struct proc_map *map, struct errmsg *f)
{
	struct errmsg why;
	char path[96];
	int fd, err;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid,
		 map->start, map->end);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd >= 0)
		return fd;
	err = -errno;
	if (shortage__is(err))
		return shortage__fault(pid, err, f);
	if (!map->cut && map->path[0] == '/') {
		fd = proc__open_in_root(pid, map->path);
		if (fd >= 0 && map__is(pid, map, fd))
			return fd;
		if (fd >= 0)
			close(fd);
		/* a plain chroot: the kernel shows the path from our root */
		fd = proc__open_regular(map->path);
		if (fd >= 0 && map__is(pid, map, fd))
			return fd;
		if (fd >= 0)
			close(fd);
	}
	if (err == -EPERM || err == -EACCES)
		return errmsg__set(f, -EACCES,
				   "not allowed to open %s as process %d has it mapped: %s",
				   map->path, (int)pid, refusal__target(REFUSAL_MAPPED, pid, &why));
	return errmsg__set(f, -ESRCH, "process %d unmapped %s before it could be read", (int)pid,
			   map->path);
}

int proc_maps__open(pid_t pid, const struct proc_map *map, struct errmsg *f)
{
	uint64_t raised = rights__raise(RIGHTS_TARGET);
	int fd = proc_maps__open_raised(pid, map, f);

	rights__lower(raised);
	return fd;
}
