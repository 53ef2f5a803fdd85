/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef XR_SERVE_LINUX_CERTIFICATES_H
#define XR_SERVE_LINUX_CERTIFICATES_H

/*
 * certificates__file - the certificates that this system trusts, for CURLOPT_CAINFO: the first of
 * the files in which distributions keep them that can be read.  NULL: what libcurl has built in
 * counts, that of a shared library being the distribution's own; of the static program there is
 * none, and a server over TLS needs a file that the caller names.
 */
const char *certificates__file(void);

#endif
