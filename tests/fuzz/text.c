/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Text of strangers and of the kernel, line by line or as a whole: the first byte of the input says
 * as what. */
#include "base/escape.h"
#include "base/json.h"
#include "base/parse.h"
#include "engine/bpf/kernel.h"
#include "fuzz.h"
#include "os/linux/cpus.h"
#include "os/linux/proc_maps.h"
#include "os/match.h"
#include "os/proc.h"
#include "target/r_version.h"

static void fuzz__escape(const char *text)
{
	static const char *const also[] = {"", "\"", ";", "\";"};
	struct buf b = {0};

	for (size_t i = 0; i < sizeof(also) / sizeof(also[0]); i++) {
		size_t len = strlen(text), quotes = 0;

		b.len = 0;
		if (escape__text(&b, text, also[i], SIZE_MAX))
			fuzz__fail("out of memory");
		if (b.len < len)
			fuzz__fail("%zu bytes became %zu", len, b.len);
		fuzz__plain(b.data, b.len, false);
		for (size_t k = 0; k < b.len; k++) {
			quotes += b.data[k] == '"';
			if (b.data[k] == ';' && strchr(also[i], ';'))
				fuzz__fail("a semicolon is left");
		}
		if (strchr(also[i], '"') && quotes && quotes != 2)
			fuzz__fail("%zu quotes are left", quotes);
	}
	buf__free(&b);
}

static void fuzz__json(const char *text)
{
	struct buf out = {0};
	struct json j;

	json__begin(&j);
	json__object(&j, NULL);
	json__str(&j, "text", text);
	json__close(&j);
	if (json__end(&j, &out))
		fuzz__fail("out of memory");
	fuzz__plain(out.data, out.len, true);
	buf__free(&out);
}

/* Cut at any place, it is as long as it may be, and has no half of an escape or a character. */
static void fuzz__cut(const char *text)
{
	size_t len = strlen(text);
	struct buf b = {0};
	int cut;

	for (size_t max = 3; max < 64; max++) {
		b.len = 0;
		cut = escape__text(&b, text, "\"", max);
		if (cut < 0 || b.len > max || (cut && memcmp(b.data + b.len - 3, "...", 3)) ||
		    (!cut && b.len < len))
			fuzz__fail("%zu bytes were cut to %zu of %zu", len, b.len, max);
		fuzz__plain(b.data, b.len, false);
	}
	buf__free(&b);
}

static void fuzz__maps(const struct input *in)
{
	struct proc_map found[4], map;
	size_t n, lines;
	FILE *file;

	if (!in->left)
		return;
	if (!proc_maps__parse((const char *)in->at, in->left, &map)) {
		if (map.start >= map.end || !memchr(map.path, '\0', sizeof(map.path)))
			fuzz__fail("a mapping that cannot be");
		proc_maps__is_libr(map.path);
		proc_maps__is_r(map.path);
	}
	file = fmemopen((void *)(uintptr_t)in->at, in->left, "r");
	if (!file)
		fuzz__fail("fmemopen: %s", strerror(errno));
	n = proc_maps__find(file, found, 4, &lines);
	if (n > 4 || n > lines)
		fuzz__fail("%zu mappings in %zu lines", n, lines);
	for (size_t i = 0; i < n; i++)
		if (!found[i].exec || !proc_maps__is_libr(found[i].path))
			fuzz__fail("%s is not a libR.so", found[i].path);
	rewind(file);
	if (n && proc_maps__file(file, found[0].path, found[0].deleted, &map) && !map.exec)
		fuzz__fail("a file that is not executable");
	fclose(file);
}

static void fuzz__stat(const struct input *in)
{
	char *copy = fuzz__copy(in->at, in->left); /* not terminated */
	struct proc p = {0};

	if (!proc__parse_stat(copy, in->left, &p) && !memchr(p.comm, '\0', sizeof(p.comm)))
		fuzz__fail("a name without an end");
	free(copy);
}

static void fuzz__numbers(const char *text)
{
	const char *at = text;
	bool online[64];
	double seconds;
	uint64_t value;

	while (!parse__field(&at, UINT64_MAX, &value))
		;
	if (!parse__u64(text, 1000, &value) && value > 1000)
		fuzz__fail("%llu", (unsigned long long)value);
	at = text;
	while (!parse__u64_to(&at, ',', UINT64_MAX, &value) && *at)
		at++;
	if (!parse__seconds(text, &seconds) && !(seconds >= 0))
		fuzz__fail("%g seconds", seconds);
	cpus__parse(text, online, 64);
	kernel__freeze_prone(text, text, text);
}

static void fuzz__names(const char *text)
{
	const char *cut = strchr(text, '\n');
	char id[65] = "", *pattern = strndup(text, cut ? (size_t)(cut - text) : 32);

	if (!pattern)
		fuzz__fail("out of memory");
	if (proc__container(text, id) && strlen(id) != 64)
		fuzz__fail("a container %s", id);
	/* fnmatch(3) takes its time with many stars: patterns are the caller's own */
	if (strlen(pattern) < 16)
		match__glob(pattern, cut ? cut + 1 : text);
	free(pattern);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = {data, size};
	uint8_t what = input__u8(&in);
	char *text = input__text(in), version[16] = "";

	switch (what % 7) {
	case 0:
		fuzz__cut(text);
		fuzz__escape(text);
		break;
	case 1:
		fuzz__json(text);
		break;
	case 2:
		fuzz__maps(&in);
		break;
	case 3:
		fuzz__stat(&in);
		break;
	case 4:
		fuzz__numbers(text);
		break;
	case 5:
		fuzz__names(text);
		break;
	default:
		if (!r_version__parse((const char *)in.at, in.left, version) &&
		    !memchr(version, '\0', 16))
			fuzz__fail("a version without an end");
		break;
	}
	free(text);
	return 0;
}
