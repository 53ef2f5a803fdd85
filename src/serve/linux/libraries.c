/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "serve/linux/libraries.h"

#ifdef XR_STATIC

int libraries__curl(struct errmsg *f)
{
	(void)f;
	return 0;
}

int libraries__microhttpd(struct errmsg *f)
{
	(void)f;
	return 0;
}

#else

#include "os/linux/library.h"

/* What is used of them. */
/* clang-format off */
#define CURL_FUNCTIONS(F)		\
	F(curl_easy_cleanup)		\
	F(curl_easy_getinfo)		\
	F(curl_easy_init)		\
	F(curl_easy_setopt)		\
	F(curl_easy_strerror)		\
	F(curl_free)			\
	F(curl_global_cleanup)		\
	F(curl_global_init)		\
	F(curl_multi_add_handle)	\
	F(curl_multi_cleanup)		\
	F(curl_multi_info_read)		\
	F(curl_multi_init)		\
	F(curl_multi_remove_handle)	\
	F(curl_multi_setopt)		\
	F(curl_multi_socket_action)	\
	F(curl_slist_append)		\
	F(curl_slist_free_all)		\
	F(curl_url)			\
	F(curl_url_cleanup)		\
	F(curl_url_get)			\
	F(curl_url_set)

#define MHD_FUNCTIONS(F)				\
	F(MHD_add_response_header)			\
	F(MHD_create_response_from_buffer)		\
	F(MHD_destroy_response)				\
	F(MHD_get_connection_info)			\
	F(MHD_get_connection_values)			\
	F(MHD_get_daemon_info)				\
	F(MHD_get_timeout)				\
	F(MHD_lookup_connection_value)			\
	F(MHD_lookup_connection_value_n)		\
	F(MHD_queue_response)				\
	F(MHD_quiesce_daemon)				\
	F(MHD_resume_connection)			\
	F(MHD_run)					\
	F(MHD_start_daemon)				\
	F(MHD_stop_daemon)				\
	F(MHD_suspend_connection)
/* clang-format on */

LIBRARY_FUNCTIONS(curl, CURL_FUNCTIONS)
LIBRARY_FUNCTIONS(mhd, MHD_FUNCTIONS)

int libraries__curl(struct errmsg *f)
{
	return library__load("libcurl.so.4", LIBRARY_NAMES(CURL_FUNCTIONS), curl_addresses,
			     "libcurl4", f);
}

int libraries__microhttpd(struct errmsg *f)
{
	return library__load("libmicrohttpd.so.12", LIBRARY_NAMES(MHD_FUNCTIONS), mhd_addresses,
			     "libmicrohttpd12", f);
}

#endif
