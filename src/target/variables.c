/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/errmsg.h"
#include "target/variables.h"

#include <errno.h>

#include "os/proc.h"

static const char *const names[TARGET_VARIABLES] = {
	[TARGET_CONTEXT] = "R_GlobalContext",
	[TARGET_NIL] = "R_NilValue",
	[TARGET_COLON2] = "R_DoubleColonSymbol",
	[TARGET_COLON3] = "R_TripleColonSymbol",
	[TARGET_DOLLAR] = "R_DollarSymbol",
	[TARGET_ITEM] = "R_Bracket2Symbol",
	[TARGET_SRCFILE] = "R_SrcfileSymbol",
	[TARGET_CLASS] = "R_ClassSymbol",
	[TARGET_EVAL] = "R_EvalSymbol",
	[TARGET_IN_BC] = "R_InBCInterpreter",
	[TARGET_SRCREF] = "R_Srcref",
	[TARGET_GLOBAL_ENV] = "R_GlobalEnv",
	[TARGET_BASE_ENV] = "R_BaseEnv",
	[TARGET_BASE_NAMESPACE] = "R_BaseNamespace",
	[TARGET_NAME_SYMBOL] = "R_NameSymbol",
	[TARGET_SRCREF_SYMBOL] = "R_SrcrefSymbol",
	[TARGET_NAMES_SYMBOL] = "R_NamesSymbol",
	[TARGET_NAMESPACES] = "R_NamespaceRegistry",
	[TARGET_FUN_TAB] = "R_FunTab",
	[TARGET_BC_TOP] = "R_BCNodeStackTop",
	[TARGET_PP] = "R_PPStack",
	[TARGET_PP_TOP] = "R_PPStackTop",
};

const char *variables__name(enum target_variable variable)
{
	return names[variable];
}

int target__gone(const struct target *t, struct errmsg *f)
{
	return errmsg__set(f, -ESRCH, "process %d (%s) ended before it could be read", (int)t->pid,
			   t->comm);
}

int target__not_begun(const struct target *t, struct errmsg *f)
{
	return errmsg__set(f, -EAGAIN,
			   "R in process %d (%s) has not finished starting: try again in a moment",
			   (int)t->pid, t->comm);
}

/* The value of the variable at @addr in the target; 0 for address 0. */
static int target__value(const struct target *t, uint64_t addr, __u64 *value, struct errmsg *f)
{
	int err;

	*value = 0;
	if (!addr)
		return 0;
	err = proc__memory(t->pid, addr, value, sizeof(*value));
	if (err == -EPERM || err == -EACCES)
		return target__denied(t, "memory", f);
	if (err == -ESRCH)
		return target__gone(t, f);
	if (shortage__is(err))
		return shortage__fault(t->pid, err, f);
	if (err)
		return errmsg__set(
			f, -EBADMSG,
			"cannot read R's variables in process %d (%s): its %s is damaged",
			(int)t->pid, t->comm, t->path);
	return 0;
}

int variables__read(struct target *t, const uint64_t at[TARGET_VARIABLES], struct errmsg *f)
{
	struct xr_row *row = &t->row;
	struct {
		int want;
		__u64 *value;
	} values[] = {
		{TARGET_NIL, &row->nil},
		{TARGET_COLON2, &row->sym_colon2},
		{TARGET_COLON3, &row->sym_colon3},
		{TARGET_DOLLAR, &row->sym_dollar},
		{TARGET_ITEM, &row->sym_item},
		{TARGET_SRCFILE, &row->sym_srcfile},
		{TARGET_IN_BC, &row->in_bc},
		{TARGET_CLASS, &row->sym_class},
		{TARGET_EVAL, &row->eval_fun},
		{TARGET_GLOBAL_ENV, &row->global_env},
		{TARGET_BASE_ENV, &row->base_env},
		{TARGET_BASE_NAMESPACE, &row->base_namespace},
		{TARGET_NAME_SYMBOL, &row->sym_name},
		{TARGET_SRCREF_SYMBOL, &row->sym_srcref},
		{TARGET_NAMES_SYMBOL, &row->sym_names},
		{TARGET_NAMESPACES, &t->namespaces},
	};
	__u64 context;
	bool ready;
	int err;

	row->head_at = at[TARGET_CONTEXT];
	row->srcref_at = at[TARGET_SRCREF];
	row->fun_tab = at[TARGET_FUN_TAB];
	row->bc_top_at = at[TARGET_BC_TOP];
	row->pp_at = at[TARGET_PP];
	row->pp_top_at = at[TARGET_PP_TOP];
	err = target__value(t, row->head_at, &context, f);
	ready = context != 0;
	for (size_t i = 0; !err && i < sizeof(values) / sizeof(values[0]); i++) {
		err = target__value(t, at[values[i].want], values[i].value, f);
		ready = ready && (*values[i].value || !at[values[i].want]);
	}
	if (err)
		return err;
	/* what the symbol `eval` stands for inside .Internal(): its third word (Rinternals.h) */
	if (!err && row->eval_fun)
		err = target__value(t, row->eval_fun + 48, &row->eval_fun, f);
	if (err)
		return err;
	return ready ? 0 : target__not_begun(t, f);
}

int variables__layout(struct target *t, enum layouts_arch arch, struct errmsg *f)
{
	const struct xr_layout *layout = NULL;
	uint32_t version;

	version = layouts__parse(t->version);
	if (version && version < LAYOUTS_VERSION(3, 0, 0))
		return errmsg__set(
			f, -ENOTSUP,
			"process %d (%s) runs R %s, which is too old: R 3.0.0 or later is "
			"needed",
			(int)t->pid, t->comm, t->version);
	if (version)
		layout = layouts__find(arch, version);
	t->version_known = layout != NULL;
	if (!layout)
		layout = layouts__last(arch);
	t->row.layout = *layout;
	return 0;
}
