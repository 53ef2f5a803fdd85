/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The system calls of sandbox.c, by name.  Most were seen, by strace(1) while
 * tests/live/test_serve* ran; others are what another C library, machine, file system or kernel
 * has in their place.
 */
#ifndef XR_OS_LINUX_SANDBOX_CALLS_H
#define XR_OS_LINUX_SANDBOX_CALLS_H

#include <stddef.h>

/* Of every process: memory, time, signals, threads, its own state, and its end. */
static const char *const calls_common[] = {
	"brk",
	"mmap",
	"munmap",
	"mremap",
	"mprotect",
	"madvise",
	"futex",
	"set_robust_list",
	"rseq",
	"clone",
	"clone3",
	"wait4",
	"waitid",
	"sched_yield",
	"sched_getaffinity",
	"getcpu",
	"clock_gettime",
	"timer_create",
	"timer_settime",
	"timer_gettime",
	"timer_getoverrun",
	"timer_delete",
	"setitimer",
	"clock_getres",
	"clock_nanosleep",
	"nanosleep",
	"gettimeofday",
	"restart_syscall",
	"rt_sigaction",
	"rt_sigprocmask",
	"rt_sigreturn",
	"rt_sigtimedwait",
	"sigaltstack",
	"signalfd4",
	"timerfd_create",
	"timerfd_settime",
	"getpid",
	"gettid",
	"getppid",
	"getsid",
	"getuid",
	"geteuid",
	"getgid",
	"getegid",
	"getgroups",
	"getrandom",
	"getrusage",
	"prlimit64",
	"getrlimit",
	"sysinfo",
	"uname",
	"capget",
	"capset",
	"prctl",
	"exit",
	"exit_group",
	"tgkill",
	NULL,
};

/* Of every process: descriptors and files that are open, and files to open. */
static const char *const calls_files[] = {
	"open",		"openat",     "close",
	"close_range",	"read",	      "readv",
	"pread64",	"write",      "writev",
	"pwrite64",	"lseek",      "fcntl",
	"ioctl",	"dup",	      "dup2",
	"dup3",		"pipe",	      "pipe2",
	"poll",		"ppoll",      "epoll_create1",
	"epoll_ctl",	"epoll_wait", "epoll_pwait",
	"epoll_pwait2", "eventfd2",   "stat",
	"fstat",	"lstat",      "newfstatat",
	"statx",	"statfs",     "fstatfs",
	"access",	"faccessat",  "faccessat2",
	"readlink",	"readlinkat", "getdents64",
	"getcwd",	"mkdir",      "mkdirat",
	"rename",	"renameat",   "renameat2",
	"unlink",	"unlinkat",   "rmdir",
	"fsync",	"fdatasync",  "sync_file_range",
	"ftruncate",	"fallocate",  "flock",
	"fchmod",	"umask",      "chmod",
	"fchmodat",	"fadvise64",  "copy_file_range",
	"link",		"linkat",     NULL,
};

/* Of every process: sockets. */
static const char *const calls_sockets[] = {
	"socket",   "socketpair",  "bind",	  "listen",	"accept",     "accept4", "connect",
	"shutdown", "getsockname", "getpeername", "getsockopt", "setsockopt", "sendto",	 "sendmsg",
	"sendmmsg", "recvfrom",	   "recvmsg",	  "recvmmsg",	"sendfile",   NULL,
};

/* Of what samples: BPF and perf events, other processes, its own priority, and its children. */
static const char *const calls_sampler[] = {
	"bpf",
	"memfd_create", /* libbpf 1.4 and newer: in the place of each map, until it is there */
	"perf_event_open",
	"process_vm_readv",
	"get_robust_list",
	"pidfd_open",
	"pidfd_send_signal",
	"kcmp",
	"kill",
	"openat2",
	"setrlimit",
	"seccomp",
	"getpriority",
	"setpriority",
	"sched_getscheduler",
	"sched_setscheduler",
	"sched_getparam",
	"sched_setattr",
	"setsid",
	"rt_tgsigqueueinfo",
	"rt_sigqueueinfo",
	"vfork",
	"fork",
	/* engine ptrace */
	"ptrace",
	NULL,
};

/* Of no role. */
static const char *const calls_fatal[] = {
	"execve",
	"execveat",
	"process_vm_writev",
	"init_module",
	"finit_module",
	"delete_module",
	"kexec_load",
	"kexec_file_load",
	"mount",
	"umount2",
	"pivot_root",
	"move_mount",
	"open_tree",
	"fsopen",
	"fsmount",
	"fsconfig",
	"mount_setattr",
	"chroot",
	"swapon",
	"swapoff",
	"reboot",
	"setns",
	"unshare",
	"keyctl",
	"add_key",
	"request_key",
	"open_by_handle_at",
	"userfaultfd",
	"iopl",
	"ioperm",
	"io_uring_setup",
	"settimeofday",
	"clock_settime",
	"setuid",
	"setgid",
	"setreuid",
	"setregid",
	"setresuid",
	"setresgid",
	"setgroups",
	"pidfd_getfd",
	"process_madvise",
	"personality",
	NULL,
};

/* Not of the front, whatever the sampler may. */
static const char *const calls_fatal_front[] = {
	"bpf", "perf_event_open", "process_vm_readv", "ptrace", "kcmp", "kill", "pidfd_open", NULL,
};

#endif
