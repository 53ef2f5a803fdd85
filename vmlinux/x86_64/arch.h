/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* x86_64: arch/x86/include/asm/{ptrace.h,processor.h} */
#ifndef XR_ARCH_H
#define XR_ARCH_H

struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di;
	unsigned long orig_ax, ip, cs, flags, sp, ss;
};
typedef struct pt_regs bpf_user_pt_regs_t;

#define XR_REGS_IP(regs)    ((regs)->ip)
#define XR_REGS_SP(regs)    ((regs)->sp)
#define XR_REGS_FP(regs)    ((regs)->bp)
#define XR_REGS_LR(r)	    0
#define XR_REGS_USER(regs)  (((regs)->cs & 3) == 3)
#define XR_SYSCALL_TYPE	    long
#define XR_SYSCALL_AT(regs) (&(regs)->orig_ax)
#define XR_THREAD_SIZE	    16384 /* without KASAN; used only before bpf_task_pt_regs (5.15) */
#define XR_STACK_PADDING    0
#define XR_KERNEL_REGS_SIZE sizeof(struct pt_regs)

struct thread_struct {
	unsigned long fsbase;
} __attribute__((preserve_access_index));

#define XR_THREAD_POINTER(task) BPF_CORE_READ(task, thread.fsbase)

#define NATIVE_RESYNC /* see native_walk.h */

#endif
