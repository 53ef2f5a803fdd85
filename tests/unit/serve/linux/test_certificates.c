/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a shared libcurl trusts is its own affair, and that works: it has a file, and that has
 * certificates. */
#define _GNU_SOURCE
#include "serve/linux/certificates.h"
#include "serve/linux/libraries.h"

#include <dlfcn.h>

#include <curl/curl.h>

#include "tap.h"

TEST(certificates)
{
	/* which the program does not call */
	curl_version_info_data *(*version_info)(CURLversion);
	curl_version_info_data *version;
	struct errmsg f = {""};

	tap__ok(!certificates__file(), "no file is put before libcurl's own");
	if (!tap__ok(!libraries__curl(&f), "libcurl is loaded"))
		return;
	*(void **)&version_info =
		dlsym(dlopen("libcurl.so.4", RTLD_NOW | RTLD_NOLOAD), "curl_version_info");
	version = version_info(CURLVERSION_NOW);
	tap__ok(version->features & CURL_VERSION_SSL && version->cainfo &&
			!access(version->cainfo, R_OK),
		"its own can be read: %s", version->cainfo ? version->cainfo : "none");
}
