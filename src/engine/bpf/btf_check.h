/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Is a file of kernel types (--btf) sound enough to be handed to libbpf?  libbpf takes the numbers
 * of types in it as they are (up to 1.2), follows them without an end, and divides by their sizes.
 */
#ifndef XR_ENGINE_BPF_BTF_CHECK_H
#define XR_ENGINE_BPF_BTF_CHECK_H

#include <bpf/btf.h>

/*
 * btf_check__run - every type that is referred to exists, every name is a text, no type
 * consists of itself, and bit fields are numbers.  0; -EBADMSG, and *@bad is the number of a type
 * for which that is not so; -ENOMEM.
 */
int btf_check__run(const struct btf *btf, __u32 *bad);

#endif
