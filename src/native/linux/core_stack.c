/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "native/linux/core_stack.h"

#include <elfutils/libdwfl.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buf.h"
#include "native/linux/symbols.h"

#define MODULES_MAX 4096u

/* The stack pointer as DWARF counts registers: the psABI of x86-64, AADWARF64. */
#define SP_X86_64  7u
#define SP_AARCH64 31u

struct core_unwind {
	struct core *core;
	struct core_stack *stack;
	Dwfl *dwfl;
	unsigned int sp;
	bool full, found;
	int err;
};

/* Each file that was mapped, if it is still the one that ran. */
static void unwind__modules(struct core_unwind *u)
{
	struct core_module m = {0};

	dwfl_report_begin(u->dwfl);
	for (unsigned int i = 0; i < MODULES_MAX && core__module(u->core, &m); i++)
		/* closes the file in the end, if it takes it */
		if (m.fd >= 0 && !dwfl_report_elf(u->dwfl, m.path, m.path, m.fd, m.start, false))
			core_module__close(&m);
	dwfl_report_end(u->dwfl, NULL, NULL);
}

/* The name of the code at @pc of @module, NULL: its file is not there. */
static int frame__name(struct core_frame *frame, Dwfl_Module *module, uint64_t pc)
{
	const char *slash = frame->module ? strrchr(frame->module, '/') : NULL, *name = NULL;
	struct buf b = {0}, version = {0};
	GElf_Off offset;
	GElf_Sym sym;
	int err;

	if (module)
		name = dwfl_module_addrinfo(module, pc, &offset, &sym, NULL, NULL, NULL);
	if (name) { /* without the version of the symbol */
		err = buf__add(&version, name, strcspn(name, "@"));
		err = err ? err : buf__add(&version, "", 1);
		err = err ? err : demangle__add(&b, version.data);
		buf__free(&version);
	} else if (frame->module)
		err = buf__printf(&b, "%s+0x%" PRIx64, slash ? slash + 1 : frame->module,
				  frame->address);
	else
		err = buf__str(&b, "[unknown]");
	err = err ? err : buf__add(&b, "", 1);
	if (err)
		buf__free(&b);
	frame->function = b.data;
	return err;
}

static int unwind__frame(Dwfl_Frame *state, void *arg)
{
	struct core_unwind *u = arg;
	struct core_stack *s = u->stack;
	struct core_frame frame = {0};
	Dwarf_Addr pc, bias = 0;
	Dwfl_Module *module;
	uint64_t start = 0;
	bool exact;

	u->full = s->n == CORE_FRAMES_MAX;
	if (u->full || !dwfl_frame_pc(state, &pc, &exact))
		return DWARF_CB_ABORT;
	if (dwfl_frame_reg(state, u->sp, &frame.sp))
		frame.sp = 0;
	pc -= !exact; /* the call, not where it returns to */
	module = dwfl_addrmodule(u->dwfl, pc);
	frame.module = core__mapped(u->core, pc, &start);
	if (module)
		dwfl_module_getelf(module, &bias);
	else if (frame.module && !s->missing)
		s->missing = frame.module;
	frame.address = pc - (module ? bias : start);
	u->err = array__room(&s->frames, s->n, &s->cap, sizeof(frame));
	u->err = u->err ? u->err : frame__name(&frame, module, pc);
	if (u->err)
		return DWARF_CB_ABORT;
	s->frames[s->n++] = frame;
	return DWARF_CB_OK;
}

/*
 * Takes the thread that crashed and goes on to the last one: libdw frees what it has for the
 * threads at their end only, so dwfl_getthread_frames() would lose it.
 */
static int unwind__thread(Dwfl_Thread *thread, void *arg)
{
	struct core_unwind *u = arg;

	if (!u->found && dwfl_thread_tid(thread) == core__facts(u->core)->tid) {
		u->found = true;
		u->stack->whole = !dwfl_thread_getframes(thread, unwind__frame, u) && !u->full;
	}
	return DWARF_CB_OK;
}

int core_stack__read(struct core *c, struct core_stack *s, struct errmsg *f)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_linux_proc_find_elf, /* all modules have one already */
		.find_debuginfo = dwfl_standard_find_debuginfo,
	};
	struct core_unwind u = {.core = c, .stack = s};

	u.sp = core__machine(c) == EM_AARCH64 ? SP_AARCH64 : SP_X86_64;
	unsetenv("DEBUGINFOD_URLS"); /* libdwfl would ask servers for debug files */
	u.dwfl = dwfl_begin(&callbacks);
	if (!u.dwfl)
		return errmsg__set(f, -ENOMEM, "out of memory");
	unwind__modules(&u);
	if (dwfl_core_file_attach(u.dwfl, core__elf(c)) < 0)
		u.err = errmsg__set(f, -EBADMSG,
				    "the registers of the thread that crashed are not in the core "
				    "file: %s",
				    dwfl_errmsg(-1));
	else
		dwfl_getthreads(u.dwfl, unwind__thread, &u);
	if (u.err == -ENOMEM)
		errmsg__set(f, u.err, "out of memory");
	dwfl_end(u.dwfl);
	return u.err;
}

void core_stack__free(struct core_stack *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->frames[i].function);
	free(s->frames);
	*s = (struct core_stack){0};
}
