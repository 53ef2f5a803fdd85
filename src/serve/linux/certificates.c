/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "serve/linux/certificates.h"

#include <stddef.h>
#include <unistd.h>

const char *certificates__file(void)
{
#ifdef XR_STATIC
	static const char *const files[] = {
		"/etc/ssl/certs/ca-certificates.crt",		     /* Debian, Arch, Gentoo */
		"/etc/pki/tls/certs/ca-bundle.crt",		     /* Fedora, Red Hat */
		"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", /* Red Hat from 7 on */
		"/etc/ssl/ca-bundle.pem",			     /* SUSE */
		"/etc/ssl/cert.pem",				     /* Alpine */
	};
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (!access(files[i], R_OK))
			return files[i];
#endif
	return NULL;
}
