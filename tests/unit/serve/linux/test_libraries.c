/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Both libraries, loaded when they are asked for and not before; calls reach them, whatever they
 * take. */
#define _GNU_SOURCE
#include "serve/linux/libraries.h"

#include <curl/curl.h>
#include <microhttpd.h>

#include "tap.h"

static bool is_mapped(const char *name)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[4096];
	bool found = false;

	while (maps && fgets(line, sizeof(line), maps))
		found = found || strstr(line, name);
	if (maps)
		fclose(maps);
	return found;
}

TEST(curl)
{
	struct errmsg f = {""};
	char *url = NULL;
	long code = -1;
	CURL *curl;

	tap__ok(!is_mapped("libcurl"), "libcurl is not there at the start");
	if (!tap__ok(!libraries__curl(&f), "libcurl is loaded") ||
	    !tap__ok(is_mapped("libcurl"), "it is there"))
		tap__diag("%s", f.text);
	tap__ok(!libraries__curl(&f), "a second load succeeds");
	tap__ok(!curl_global_init(CURL_GLOBAL_DEFAULT), "a call reaches it");
	curl = curl_easy_init();
	tap__ok(curl && !curl_easy_setopt(curl, CURLOPT_URL, "http://[::1]:1/") &&
			!curl_easy_setopt(curl, CURLOPT_PORT, 9L) &&
			!curl_easy_setopt(curl, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)1 << 40),
		"a string, a number and a large number arrive");
	tap__ok(curl && !curl_easy_getinfo(curl, CURLINFO_EFFECTIVE_URL, &url) && url &&
			!strcmp(url, "http://[::1]:1/"),
		"the string comes back");
	tap__ok(curl && !curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &code) && !code,
		"so does a number");
	tap__ok(curl && curl_easy_setopt(curl, CURLOPT_PORT, 65536L) == CURLE_BAD_FUNCTION_ARGUMENT,
		"what it refuses is refused");
	curl_easy_cleanup(curl);
	curl_global_cleanup();
}

static enum MHD_Result answer(void *arg, struct MHD_Connection *c, const char *url,
			      const char *method, const char *version, const char *data,
			      size_t *size, void **request)
{
	return MHD_NO;
}

TEST(microhttpd)
{
	const union MHD_DaemonInfo *info;
	struct MHD_Daemon *daemon;
	struct errmsg f = {""};

	tap__ok(!is_mapped("libmicrohttpd"), "libmicrohttpd is not there at the start");
	if (!tap__ok(!libraries__microhttpd(&f), "libmicrohttpd is loaded"))
		tap__diag("%s", f.text);
	/* Arguments beyond those that registers hold. */
	daemon = MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, answer, NULL,
				  MHD_OPTION_CONNECTION_LIMIT, 7u, MHD_OPTION_CONNECTION_TIMEOUT,
				  3u, MHD_OPTION_LISTEN_BACKLOG_SIZE, 5u, MHD_OPTION_END);
	tap__ok(daemon, "it listens, with options");
	info = daemon ? MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT) : NULL;
	tap__ok(info && info->port, "and says where");
	if (daemon)
		MHD_stop_daemon(daemon);
}
