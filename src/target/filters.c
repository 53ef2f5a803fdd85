/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/filters.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "os/proc.h"

#define CONTAINER_ID_MIN 12u /* what `docker ps` shows */

static int filters__put(struct filters *fs, struct filter filter, struct errmsg *f)
{
	struct filter *more = realloc(fs->list, (fs->n + 1) * sizeof(*more));

	if (!more)
		return errmsg__set(f, -ENOMEM, "out of memory");
	fs->list = more;
	fs->list[fs->n++] = filter;
	fs->given[filter.kind] = true;
	return 0;
}

static int filters__user(struct filters *fs, const char *arg, struct errmsg *f)
{
	struct filter filter = {.kind = FILTER_USER};
	uint64_t id;

	if (!parse__u64(arg, UINT_MAX, &id))
		filter.id = (unsigned long)id;
	else if (match__user_id(arg, &filter.id))
		return errmsg__set(f, -EINVAL,
				   "--user %s: no such user on this machine; give the number for a "
				   "user of a container",
				   arg);
	return filters__put(fs, filter, f);
}

static int filters__exclude(struct filters *fs, const char *arg, struct errmsg *f)
{
	struct filter filter = {.kind = FILTER_EXCLUDE};
	const char *at = arg;
	uint64_t pid;
	int err;

	for (;;) {
		if (parse__u64_to(&at, ',', INT_MAX, &pid) || !pid)
			return errmsg__set(f, -EINVAL,
					   "--exclude-pid %s: not a list of process ids", arg);
		filter.id = (unsigned long)pid;
		err = filters__put(fs, filter, f);
		if (err || !*at)
			return err;
		at++;
	}
}

int filters__add(struct filters *fs, enum filter_kind kind, const char *arg, struct errmsg *f)
{
	struct filter filter = {.kind = kind, .text = arg};

	if (kind == FILTER_USER)
		return filters__user(fs, arg, f);
	if (kind == FILTER_EXCLUDE)
		return filters__exclude(fs, arg, f);
	if (!*arg)
		return errmsg__set(f, -EINVAL, "--%s: the pattern is empty",
				   kind == FILTER_COMM ? "comm" : "cgroup");
	return filters__put(fs, filter, f);
}

static bool cgroup__match(const char *pattern, const char *cgroup)
{
	size_t len = strlen(pattern);
	char id[PROC_CONTAINER_LEN];

	if (match__glob(pattern, cgroup))
		return true;
	while (len > 1 && pattern[len - 1] == '/')
		len--;
	if (!strncmp(pattern, cgroup, len) && (cgroup[len] == '/' || !strcmp(pattern, "/")))
		return true;
	return len >= CONTAINER_ID_MIN && proc__container(cgroup, id) && !strncmp(pattern, id, len);
}

static bool filter__match(const struct filter *filter, const struct match_subject *s)
{
	switch (filter->kind) {
	case FILTER_USER:
		return s->uid == filter->id;
	case FILTER_CGROUP:
		return cgroup__match(filter->text, s->cgroup);
	case FILTER_COMM:
		return match__glob(filter->text, s->comm);
	case FILTER_EXCLUDE:
		return (unsigned long)s->pid == filter->id;
	case FILTER_KINDS:
		break;
	}
	return false;
}

bool filters__match(const struct filters *fs, const struct match_subject *subject)
{
	bool met[FILTER_KINDS] = {false};

	for (size_t i = 0; i < fs->n; i++)
		met[fs->list[i].kind] |= filter__match(&fs->list[i], subject);
	if (met[FILTER_EXCLUDE])
		return false;
	for (int kind = 0; kind < FILTER_KINDS; kind++)
		if (kind != FILTER_EXCLUDE && fs->given[kind] && !met[kind])
			return false;
	return true;
}

bool filters__pass(const struct filters *fs, pid_t pid)
{
	struct match_process p;

	if (!fs->n)
		return true;
	return !match__process(&p, pid, fs->given[FILTER_CGROUP]) && filters__match(fs, &p.subject);
}

bool filters__narrow(const struct filters *fs)
{
	return fs->given[FILTER_USER] || fs->given[FILTER_CGROUP] || fs->given[FILTER_COMM];
}

void filters__text(const struct filters *fs, char *text, size_t size)
{
	static const char *const options[] = {
		[FILTER_USER] = "user",
		[FILTER_CGROUP] = "cgroup",
		[FILTER_COMM] = "comm",
		[FILTER_EXCLUDE] = "exclude-pid",
	};
	char id[24];
	bool rscript = false;
	size_t len = 0;
	int n;

	text[0] = '\0';
	for (size_t i = 0; i < fs->n; i++) {
		const struct filter *filter = &fs->list[i];

		snprintf(id, sizeof(id), "%lu", filter->id);
		n = snprintf(text + len, size - len, "%s--%s %s", i ? " " : "",
			     options[filter->kind], filter->text ? filter->text : id);
		if (n < 0 || (size_t)n >= size - len)
			return;
		len += (size_t)n;
		rscript |= filter->kind == FILTER_COMM && !strncmp(filter->text, "Rscript", 7);
	}
	if (rscript)
		snprintf(text + len, size - len, " (the command that Rscript runs is called R)");
}

void filters__free(struct filters *fs)
{
	free(fs->list);
	*fs = (struct filters){0};
}
