/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "engine/bpf/btf_check.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

/* The number @i of the types that @t refers to (0: void), and in *@name the name that goes with it.
 */
static bool type__refers(const struct btf_type *t, __u32 i, __u32 *id, __u32 *name)
{
	*name = 0;
	switch (btf_kind(t)) {
	case BTF_KIND_PTR:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
	case BTF_KIND_TYPE_TAG:
		*id = t->type;
		return !i;
	case BTF_KIND_ARRAY:
		*id = i ? btf_array(t)->index_type : btf_array(t)->type;
		return i < 2;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		if (i >= btf_vlen(t))
			return false;
		*id = btf_members(t)[i].type;
		*name = btf_members(t)[i].name_off;
		return true;
	case BTF_KIND_FUNC_PROTO:
		if (i > btf_vlen(t))
			return false;
		*id = i ? btf_params(t)[i - 1].type : t->type;
		*name = i ? btf_params(t)[i - 1].name_off : 0;
		return true;
	case BTF_KIND_DATASEC:
		*id = i < btf_vlen(t) ? btf_var_secinfos(t)[i].type : 0;
		return i < btf_vlen(t);
	case BTF_KIND_ENUM:
		*id = 0;
		*name = i < btf_vlen(t) ? btf_enum(t)[i].name_off : 0;
		return i < btf_vlen(t);
	case BTF_KIND_ENUM64:
		*id = 0;
		*name = i < btf_vlen(t) ? btf_enum64(t)[i].name_off : 0;
		return i < btf_vlen(t);
	default:
		return false;
	}
}

/* Is what @t refers to a part of it?  Not what a pointer leads to. */
static bool type__contains(const struct btf_type *t)
{
	return btf_is_mod(t) || btf_is_typedef(t) || btf_is_array(t) || btf_is_composite(t) ||
	       btf_is_var(t) || btf_is_datasec(t);
}

static bool type__sound(const struct btf *btf, const struct btf_type *t)
{
	__u32 id, name;

	if (!btf__str_by_offset(btf, t->name_off))
		return false;
	for (__u32 i = 0; type__refers(t, i, &id, &name); i++)
		if (id >= btf__type_cnt(btf) || !btf__str_by_offset(btf, name))
			return false;
	return true;
}

/* A type whose parts are being looked at, and how many of them were. */
struct visit {
	__u32 id, done;
};

enum { TYPE_NEW, TYPE_OPEN, TYPE_CLOSED };

/* Does type @root consist of itself, or one of its parts?  *@bad is that one. */
static bool type__circular(const struct btf *btf, __u32 root, __u8 *state, struct visit *stack,
			   __u32 *bad)
{
	__u32 depth = 0, part, name;

	if (state[root] != TYPE_NEW)
		return false;
	state[root] = TYPE_OPEN;
	stack[depth++] = (struct visit){root, 0};
	while (depth) {
		struct visit *v = &stack[depth - 1];
		const struct btf_type *t = btf__type_by_id(btf, v->id);

		if (!type__contains(t) || !type__refers(t, v->done++, &part, &name)) {
			state[v->id] = TYPE_CLOSED;
			depth--;
		} else if (state[part] == TYPE_OPEN) {
			*bad = part;
			return true;
		} else if (state[part] == TYPE_NEW) {
			state[part] = TYPE_OPEN;
			stack[depth++] = (struct visit){part, 0};
		}
	}
	return false;
}

/*
 * Are the bit fields of @t numbers?  libbpf divides by the size of the type they have
 * (relo_core.c, bpf_core_calc_field_relo()).  Nothing may be circular.
 */
static bool type__bits_sound(const struct btf *btf, const struct btf_type *t)
{
	if (!btf_is_composite(t))
		return true;
	for (__u32 i = 0; i < btf_vlen(t); i++) {
		const struct btf_type *of = btf__type_by_id(btf, btf_members(t)[i].type);

		while (btf_is_mod(of) || btf_is_typedef(of))
			of = btf__type_by_id(btf, of->type);
		if (btf_member_bitfield_size(t, i) &&
		    (!(btf_is_int(of) || btf_is_any_enum(of)) || !of->size))
			return false;
	}
	return true;
}

int btf_check__run(const struct btf *btf, __u32 *bad)
{
	__u32 n = btf__type_cnt(btf);
	__u8 *state = calloc(n, sizeof(*state));
	struct visit *stack = calloc(n, sizeof(*stack)); /* a type is in it once */
	int err = state && stack ? 0 : -ENOMEM;

	*bad = 0;
	for (__u32 id = 1; id < n && !err; id++) {
		if (type__sound(btf, btf__type_by_id(btf, id)))
			continue;
		*bad = id;
		err = -EBADMSG;
	}
	for (__u32 id = 1; id < n && !err; id++)
		if (type__circular(btf, id, state, stack, bad))
			err = -EBADMSG;
	for (__u32 id = 1; id < n && !err; id++) {
		if (type__bits_sound(btf, btf__type_by_id(btf, id)))
			continue;
		*bad = id;
		err = -EBADMSG;
	}
	free(state);
	free(stack);
	return err;
}
