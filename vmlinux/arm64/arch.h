/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* arm64: arch/arm64/include/{uapi/asm/ptrace.h,asm/ptrace.h,asm/processor.h} */
#ifndef XR_ARCH_H
#define XR_ARCH_H

struct user_pt_regs {
	__u64 regs[31];
	__u64 sp;
	__u64 pc;
	__u64 pstate;
};
typedef struct user_pt_regs bpf_user_pt_regs_t;

/* The first part of the kernel's struct pt_regs is user_pt_regs; its size is asked of BTF. */
struct pt_regs {
	__u64 sp;
	__s32 syscallno;
} __attribute__((preserve_access_index));

#define XR_REGS_IP(regs)    ((regs)->pc)
#define XR_REGS_SP(regs)    ((regs)->sp)
#define XR_REGS_FP(r)	    ((r)->regs[29])
#define XR_REGS_LR(r)	    ((r)->regs[30])
#define XR_REGS_USER(regs)  (((regs)->pstate & 0xf) == 0)
#define XR_SYSCALL_TYPE	    __s32
#define XR_SYSCALL_AT(regs) (&((struct pt_regs *)(regs))->syscallno)
#define XR_THREAD_SIZE	    16384 /* 4 KB pages; used only before bpf_task_pt_regs (5.15) */
#define XR_STACK_PADDING    0
#define XR_KERNEL_REGS_SIZE bpf_core_type_size(struct pt_regs)

struct xr_uw {
	unsigned long tp_value;
} __attribute__((preserve_access_index));

struct thread_struct {
	struct xr_uw uw;
} __attribute__((preserve_access_index));

#define XR_THREAD_POINTER(task) BPF_CORE_READ(task, thread.uw.tp_value)

#endif
