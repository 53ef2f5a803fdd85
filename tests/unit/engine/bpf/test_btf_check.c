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

/* With a bit field of type @id. */
static struct btf *types__bits(__u32 id)
{
	struct btf *btf = types__new();

	btf__add_struct(btf, "bits", 8);
	btf__add_field(btf, "bit", id, 3, 1);
	return btf;
}

/* The words of a type in a file, with the first two parts of a structure (linux/btf.h). */
enum { NAME = 0, TYPE = 2, FIRST_NAME = 3, FIRST_TYPE = 4, SECOND_TYPE = 7 };

TEST(btf_check)
{
	static const struct {
		__u32 id, word, value;
		const char *what;
	} rows[] = {
		{3, TYPE, 8, "a pointer to a type that is not there"},
		{2, SECOND_TYPE, 0xffffffff, "a member of a type that is not there"},
		{7, FIRST_TYPE, 99, "a parameter of a type that is not there"},
		{6, NAME, 0x7fffffff, "a name outside of the strings"},
		{2, FIRST_NAME, 0x7fffffff, "a member's name outside of the strings"},
		{4, TYPE, 5, "const and typedef in a circle"},
		{2, SECOND_TYPE, 6, "a structure with an array of itself"},
		{2, SECOND_TYPE, 2, "a structure in itself"},
	};
	struct btf *btf;

	expect(types__new(), 0, "sound types, and one that points at itself");
	for (size_t i = 0; i < COUNT(rows); i++) {
		btf = types__new();
		((__u32 *)type_of(btf, rows[i].id))[rows[i].word] = rows[i].value;
		expect(btf, -EBADMSG, rows[i].what);
	}
	expect(types__bits(1), 0, "a bit field");
	btf = types__bits(1);
	type_of(btf, 1)->size = 0;
	expect(btf, -EBADMSG, "a bit field of a number without a size");
	expect(types__bits(6), -EBADMSG, "a bit field of an array");
	btf = btf__parse("/sys/kernel/btf/vmlinux", NULL);
	if (btf)
		expect(btf, 0, "this kernel's own");
	else
		tap__skip("there is no BTF", "this kernel's own");
}
