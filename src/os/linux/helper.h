/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Helper processes: for work that may never end or may crash (a file system that does not respond,
 * input that a stranger wrote), or that needs fewer privileges than the program.
 *
 * A helper has one end of a socket that keeps messages whole, and nothing else of the program's: no
 * other descriptor (0 to 2 are /dev/null), no terminal, only the capabilities that its job names,
 * and no way to get more. Signals that end a session do not end it.  It ends with the program,
 * however that ends.  The flags of a job name the exceptions.
 */
#ifndef XR_OS_LINUX_HELPER_H
#define XR_OS_LINUX_HELPER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/errmsg.h"

enum helper_flags {
	HELPER_LIMITED = 1 << 0,  /* 1 GiB more memory; it is killed first if memory is short */
	HELPER_OUTLIVES = 1 << 1, /* it sees by its socket that the program has ended */
	HELPER_SESSION = 1 << 2,  /* it stays in the session of the program, and has its terminal */
	HELPER_STDOUT = 1 << 3,	  /* it has the program's standard output, */
	HELPER_STDERR = 1 << 4,	  /* its standard error, */
	HELPER_GIVEN = 1 << 5,	  /* all descriptors that the program was started with */
};

#define HELPER_KEEP_MAX 4

/* What a helper does. */
struct helper_job {
	const char *name;	   /* of the process: 15 bytes are shown */
	unsigned int flags;	   /* enum helper_flags */
	unsigned int rights;	   /* enum rights_use that it keeps */
	int keep[HELPER_KEEP_MAX]; /* other descriptors that it needs; 0 and less: none */
	/* @fd: its end of the socket.  When this returns, the process exits. */
	void (*run)(int fd, const void *arg);
};

/* The program's side. */
struct helper {
	int fd; /* the program's end of the socket */
	pid_t pid;
};

#define HELPER_NONE ((struct helper){.fd = -1})

/*
 * helper__start - fork a helper that runs @job with @arg, which is as it was at the fork.  The
 * program may have no other threads.  A negative errno; *@h is HELPER_NONE then.
 */
int helper__start(struct helper *h, const struct helper_job *job, const void *arg);

/* helper__ended - has it ended?  It is reaped then. */
bool helper__ended(struct helper *h);

/*
 * helper__end - hang up, wait up to @ms for it to end, and then kill it.  A helper that cannot even
 * be killed is left behind.  *@h is HELPER_NONE afterwards, and may be so before.
 */
void helper__end(struct helper *h, int ms);

/*
 * helper__send - one message, and with it the descriptor @with, -1: none.  0 or a negative errno.
 * @flags: as of send(2).
 */
int helper__send(int fd, const void *message, size_t size, int with, int flags);

/*
 * helper__receive - the next message: its length (0: the other end is closed), or a negative errno.
 * *@with is the descriptor that came with it, the caller's to close, or -1.  If @with is NULL, the
 * message may have none.  @flags: as of recv(2).
 */
ssize_t helper__receive(int fd, void *to, size_t size, int *with, int flags);

/* The first message of a helper, if it was asked to greet. */
struct helper_hello {
	int32_t pid;
};

/*
 * helper__run - be a helper: for a process that @parent forked by other means, with socket @fd.
 * @greet: send a struct helper_hello first.
 */
__attribute__((noreturn)) void helper__run(int fd, pid_t parent, const struct helper_job *job,
					   const void *arg, bool greet);

/*
 * A pool is a helper that forks other helpers.  They are small, however large the program has
 * become.
 */
struct helper_pool {
	struct helper helper;
	uint32_t last_id;
};

#define HELPER_POOL_NONE ((struct helper_pool){.helper = {.fd = -1}})

/* helper_pool__open - to be called early.  @arg: what its helpers are run with. */
int helper_pool__open(struct helper_pool *pool, const void *arg, struct errmsg *f);

/*
 * helper_pool__start - have a helper forked that runs @job, a static one, with the `arg` of the
 * pool.  Returns the caller's end of its socket before the helper is there, or a negative errno.
 * The helper greets.  When it has ended, or if it cannot be forked, the socket is hung up.  *@id is
 * for helper_pool__kill.  Of the rights of @job it has at most those for looking at processes
 * (RIGHTS_TARGET, RIGHTS_PRIORITY).
 */
int helper_pool__start(struct helper_pool *pool, const struct helper_job *job, uint32_t *id);

/*
 * helper_pool__kill - kill helper @id.  If it waits in the kernel it may end much later; then its
 * end of the socket is closed.
 */
void helper_pool__kill(struct helper_pool *pool, uint32_t id);

/* helper_pool__cpu - ns on a CPU so far: of the pool and of all its helpers. */
uint64_t helper_pool__cpu(const struct helper_pool *pool);

/* helper_pool__close - kill all, and wait for them for some milliseconds. */
void helper_pool__close(struct helper_pool *pool);

#endif
