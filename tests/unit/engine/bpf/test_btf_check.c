/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Files of kernel types: sound ones pass, those that would lead libbpf astray do not. */

#include "engine/bpf/btf_check.h"
#include "tap.h"

/* An int, a pointer, a structure with it, the structure that names itself by a pointer. */
static struct btf *types__new(void)
{
	struct btf *btf = btf__new_empty();

	tap__bail_if(!btf || btf__add_int(btf, "int", 4, BTF_INT_SIGNED) != 1 ||
			     btf__add_struct(btf, "list", 16) != 2 ||
			     btf__add_field(btf, "value", 1, 0, 0) ||
			     btf__add_field(btf, "next", 3, 64, 0) || btf__add_ptr(btf, 2) != 3 ||
			     btf__add_typedef(btf, "list_t", 2) != 4 ||
			     btf__add_const(btf, 4) != 5 || btf__add_array(btf, 1, 5, 3) != 6 ||
			     btf__add_func_proto(btf, 0) != 7 || btf__add_func_param(btf, "l", 3),
		     "libbpf cannot make types");
	return btf;
}

static struct btf_type *type_of(struct btf *btf, __u32 id)
{
	return (struct btf_type *)btf__type_by_id(btf, id);
}

static void expect(struct btf *btf, int want, const char *what)
{
	__u32 bad = 0;
	int err = btf_check__run(btf, &bad);

	tap__ok(err == want && !bad == !want, "%s: %d, type %u", what, err, bad);
	btf__free(btf);
}

TEST(btf_check)
{
	struct btf *btf = types__new();

	expect(btf, 0, "sound types, and one that points at itself");
	btf = types__new();
	type_of(btf, 3)->type = 8;
	expect(btf, -EBADMSG, "a pointer to a type that is not there");
	btf = types__new();
	btf_members(type_of(btf, 2))[1].type = 0xffffffff;
	expect(btf, -EBADMSG, "a member of a type that is not there");
	btf = types__new();
	btf_params(type_of(btf, 7))[0].type = 99;
	expect(btf, -EBADMSG, "a parameter of a type that is not there");
	btf = types__new();
	type_of(btf, 6)->name_off = 0x7fffffff;
	expect(btf, -EBADMSG, "a name outside of the strings");
	btf = types__new();
	btf_members(type_of(btf, 2))[0].name_off = 0x7fffffff;
	expect(btf, -EBADMSG, "a member's name outside of the strings");
	btf = types__new();
	type_of(btf, 4)->type = 5;
	expect(btf, -EBADMSG, "const and typedef in a circle");
	btf = types__new();
	btf_members(type_of(btf, 2))[1].type = 6;
	expect(btf, -EBADMSG, "a structure with an array of itself");
	btf = types__new();
	btf_members(type_of(btf, 2))[1].type = 2;
	expect(btf, -EBADMSG, "a structure in itself");
	btf = types__new();
	btf__add_struct(btf, "bits", 8);
	btf__add_field(btf, "bit", 1, 3, 1);
	expect(btf, 0, "a bit field");
	btf = types__new();
	btf__add_struct(btf, "bits", 8);
	btf__add_field(btf, "bit", 1, 3, 1);
	type_of(btf, 1)->size = 0;
	expect(btf, -EBADMSG, "a bit field of a number without a size");
	btf = types__new();
	btf__add_struct(btf, "bits", 8);
	btf__add_field(btf, "bit", 6, 3, 1);
	expect(btf, -EBADMSG, "a bit field of an array");
	btf = btf__parse("/sys/kernel/btf/vmlinux", NULL);
	if (btf)
		expect(btf, 0, "this kernel's own");
	else
		tap__skip("there is no BTF", "this kernel's own");
}
