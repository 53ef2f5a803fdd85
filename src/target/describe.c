/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "target/describe.h"

#include <errno.h>
#include <string.h>

#include "base/parse.h"
#include "base/utf8.h"

#define SERVICE	     "service"
#define SERVICE_OTEL "OTEL_SERVICE_NAME"

/* --- rules --- */

static bool char__is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Is @text, of @len bytes, a name that has room?  It is put into @to. */
static bool name__take(const char *text, size_t len, char to[DESCRIBE_KEY])
{
	if (!len || len >= DESCRIBE_KEY || !char__is_letter(*text))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!char__is_letter(text[i]) && (text[i] < '0' || text[i] > '9'))
			return false;
	memcpy(to, text, len);
	to[len] = '\0';
	return true;
}

static void name__lower(char *name)
{
	for (; *name; name++)
		if (*name >= 'A' && *name <= 'Z')
			*name = (char)(*name - 'A' + 'a');
}

/* The label @text, of @len bytes, in lower case. */
static int label__take(const char *whole, const char *text, size_t len, char key[DESCRIBE_KEY],
		       struct errmsg *f)
{
	if (!name__take(text, len, key))
		return errmsg__set(f, -EINVAL,
				   "%s: not a label: a label has up to %u letters, digits and _, "
				   "and does not begin with a digit",
				   whole, DESCRIBE_KEY - 1);
	name__lower(key);
	return 0;
}

int label_rule__parse(const char *text, struct label_rule *rule, struct errmsg *f)
{
	const char *equals = strchr(text, '=');
	size_t len = equals ? (size_t)(equals - text) : strlen(text);

	if (!name__take(text, len, rule->name))
		return errmsg__set(f, -EINVAL,
				   "%s: give NAME or NAME=label; a variable has up to %u letters, "
				   "digits and _, and does not begin with a digit",
				   text, DESCRIBE_KEY - 1);
	return equals ? label__take(text, equals + 1, strlen(equals + 1), rule->label, f)
		      : label__take(text, text, len, rule->label, f);
}

const char *label__parse(const char *text, char key[DESCRIBE_KEY], struct errmsg *f)
{
	const char *equals = strchr(text, '=');

	if (!equals || !equals[1]) {
		errmsg__set(f, -EINVAL, "%s: give key=value", text);
		return NULL;
	}
	return label__take(text, text, (size_t)(equals - text), key, f) ? NULL : equals + 1;
}

/* --- texts --- */

/* How many of @len bytes there are when there may be @max: a character is there, or it is not. */
static size_t text__cut(const char *text, size_t len, size_t max)
{
	size_t n = max;

	if (len <= max)
		return len;
	while (n && max - n < 4 && ((unsigned char)text[n] & 0xc0) == 0x80)
		n--;
	return n;
}

/* @len bytes of @text as the value of a label. */
static void value__take(const char *text, size_t len, char to[DESCRIBE_VALUE])
{
	len = text__cut(text, len, DESCRIBE_VALUE - 1);
	memcpy(to, text, len);
	to[len] = '\0';
	utf8__tame(to);
}

const char *describe__next(const char *at, const char *end)
{
	const char *nul = memchr(at, '\0', (size_t)(end - at));

	return nul && nul + 1 < end ? nul + 1 : NULL;
}

/* Put @text behind what is in @to. */
static void text__put(char *to, size_t *len, const char *text)
{
	size_t size = strlen(text) + 1;

	memcpy(to + *len, text, size);
	*len += size;
}

/* --- what a process says --- */

/* The value of variable @name, not terminated; NULL: there is none. */
static const char *environment__find(const struct describe_from *from, const char *name,
				     size_t *len)
{
	const char *at = from->environment, *end = at + from->environment_len, *nul;
	size_t size = strlen(name);

	for (; at < end; at = nul + 1) {
		nul = memchr(at, '\0', (size_t)(end - at));
		if (!nul) /* cut: it may go on */
			return NULL;
		if ((size_t)(nul - at) > size && at[size] == '=' && !memcmp(at, name, size)) {
			*len = (size_t)(nul - at) - size - 1;
			return at + size + 1;
		}
	}
	return NULL;
}

/* The command line: words with blanks between them. */
static void describe__command(const struct describe_from *from, char to[DESCRIBE_COMMAND])
{
	size_t n = from->arguments_len;

	while (n && !from->arguments[n - 1])
		n--;
	n = text__cut(from->arguments, n, DESCRIBE_COMMAND - 1);
	for (size_t i = 0; i < n; i++)
		to[i] = from->arguments[i] ? from->arguments[i] : ' ';
	to[n] = '\0';
}

/* Does this unit run what others ask for, so that it says nothing of what runs in it? */
static bool unit__is_host(const char *unit, size_t len)
{
	static const char *const hosts[] = {"user",	 "docker", "containerd", "podman",
					    "crio",	 "cri-o",  "kubelet",	 "k3s",
					    "k3s-agent", "cron",   "crond",	 "atd",
					    "anacron",	 "ssh",	   "sshd",	 "systemd-nspawn"};
	const char *at = memchr(unit, '@', len); /* of an instance, what it is one of */
	size_t size = at ? (size_t)(at - unit) : len;

	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++)
		if (strlen(hosts[i]) == size && !memcmp(unit, hosts[i], size))
			return true;
	return false;
}

/* Undo \x2d and the like, as systemd writes what may not be in a unit's name. */
static void unit__unescape(char *text)
{
	char *to = text;

	for (; *text; text++) {
		if (text[0] == '\\' && text[1] == 'x' && parse__hex(text[2]) >= 0 &&
		    parse__hex(text[3]) >= 0 && (text[2] != '0' || text[3] != '0')) {
			*to++ = (char)(parse__hex(text[2]) << 4 | parse__hex(text[3]));
			text += 3;
		} else {
			*to++ = *text;
		}
	}
	*to = '\0';
}

/* The innermost unit of a cgroup; false: none that tells. */
static bool cgroup__unit(const char *path, char to[DESCRIBE_VALUE])
{
	static const char suffix[] = ".service";
	const char *end = path + strlen(path), *at;
	size_t len;

	for (; end > path; end = at > path ? at - 1 : path) {
		at = end;
		while (at > path && at[-1] != '/')
			at--;
		len = (size_t)(end - at);
		if (len <= sizeof(suffix) - 1 ||
		    memcmp(end - (sizeof(suffix) - 1), suffix, sizeof(suffix) - 1) != 0)
			continue;
		len -= sizeof(suffix) - 1;
		if (unit__is_host(at, len) || len >= DESCRIBE_VALUE)
			continue;
		memcpy(to, at, len);
		to[len] = '\0';
		unit__unescape(to);
		utf8__tame(to);
		return *to;
	}
	return false;
}

static void path__base(const char *path, size_t len, char to[DESCRIBE_VALUE])
{
	size_t base = len;

	while (base && path[base - 1] != '/')
		base--;
	value__take(path + base, len - base, to);
}

/* The script that R runs; false: none that is named. */
static bool arguments__script(const struct describe_from *from, char to[DESCRIBE_VALUE])
{
	static const char option[] = "--file=";
	const char *at = from->arguments, *end = at + from->arguments_len;
	bool file = false;
	size_t len;

	*to = '\0';
	for (; at && at < end; at = describe__next(at, end)) {
		len = strnlen(at, (size_t)(end - at));
		if (file) {
			path__base(at, len, to);
			return *to;
		}
		if (len > sizeof(option) - 1 && !memcmp(at, option, sizeof(option) - 1)) {
			path__base(at + sizeof(option) - 1, len - (sizeof(option) - 1), to);
			return *to;
		}
		if (len == 6 && !memcmp(at, "--args", 6))
			return false;
		file = len == 2 && !memcmp(at, "-f", 2);
	}
	return false;
}

/* --- all of it --- */

struct environment_label {
	char key[DESCRIBE_KEY];
	char value[DESCRIBE_VALUE];
};

static bool labels__have(const struct environment_label *labels, size_t n, const char *key)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(labels[i].key, key))
			return true;
	return false;
}

/* Labels of the environment, by the rules: how many.  The service is not among them. */
static size_t describe__environment(const struct label_rules *rules,
				    const struct describe_from *from,
				    struct environment_label labels[DESCRIBE_LABELS],
				    char service[DESCRIBE_VALUE])
{
	char otel[DESCRIBE_VALUE] = "", value[DESCRIBE_VALUE];
	struct label_rule rule;
	const char *text;
	size_t n = 0, len;
	struct errmsg f;

	for (size_t i = 0; rules->env && rules->env[i] && i < DESCRIBE_LABELS; i++) {
		text = label_rule__parse(rules->env[i], &rule, &f)
			       ? NULL
			       : environment__find(from, rule.name, &len);
		if (!text)
			continue;
		value__take(text, len, value);
		if (!strcmp(rule.name, SERVICE_OTEL))
			memcpy(otel, value, sizeof(value));
		if (!strcmp(rule.label, SERVICE)) {
			if (!*service)
				memcpy(service, value, sizeof(value));
		} else if (*value && !labels__have(labels, n, rule.label)) {
			memcpy(labels[n].key, rule.label, sizeof(rule.label));
			memcpy(labels[n++].value, value, sizeof(value));
		}
	}
	if (!*service)
		memcpy(service, otel, sizeof(otel));
	return n;
}

size_t describe__make(const struct label_rules *rules, const struct describe_from *from,
		      char to[DESCRIBE_TEXT])
{
	struct environment_label labels[DESCRIBE_LABELS];
	char command[DESCRIBE_COMMAND], service[DESCRIBE_VALUE] = "";
	size_t n = describe__environment(rules, from, labels, service), len = 0;

	if (rules->service && *rules->service)
		value__take(rules->service, strlen(rules->service), service);
	if (!*service && !cgroup__unit(from->cgroup, service) && !arguments__script(from, service))
		value__take(from->comm, strlen(from->comm), service);
	describe__command(from, command);
	text__put(to, &len, command);
	if (*service) {
		text__put(to, &len, SERVICE);
		text__put(to, &len, service);
	}
	for (size_t i = 0; i < n; i++) {
		text__put(to, &len, labels[i].key);
		text__put(to, &len, labels[i].value);
	}
	to[len++] = '\0';
	return len;
}
