/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Ctrl-C and its kind.  Windows calls the handler in a separate thread, without an argument: so
 * what it has to know is static.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "base/clock.h"
#include "os/os.h"
#include "os/signals.h"
#include "os/win32/wide.h"

/* As in signals.c. */
#define SECOND_DELAY_MS 300

/* When the console is closed Windows ends the program some five seconds later. */
#define CLOSE_MS 4500

struct signals {
	HANDLE done; /* signals__close was called */
};

static volatile LONG pending; /* signal that was not taken yet */
static volatile LONG64 came;  /* ns: when the first one did; 0: none has */
static HANDLE done;

static BOOL WINAPI on_control(DWORD event)
{
	LONG64 now = (LONG64)os__now();
	bool ending = event == CTRL_CLOSE_EVENT || event == CTRL_LOGOFF_EVENT ||
		      event == CTRL_SHUTDOWN_EVENT;
	LONG64 first = InterlockedCompareExchange64(&came, now, 0);

	if (!first)
		InterlockedExchange(&pending, ending ? SIGTERM : SIGINT);
	else if (now - first >= SECOND_DELAY_MS * (LONG64)NS_PER_MS && !ending)
		return FALSE; /* the next handler ends the program */
	if (ending)
		WaitForSingleObject(done, CLOSE_MS);
	return TRUE;
}

int signals__open(struct signals **out, struct errmsg *f)
{
	struct signals *s = calloc(1, sizeof(*s));

	if (!s)
		return errmsg__set(f, -ENOMEM, "out of memory");
	s->done = CreateEventW(NULL, TRUE, FALSE, NULL);
	done = s->done;
	/* a parent may have had Ctrl-C ignored, which is inherited */
	SetConsoleCtrlHandler(NULL, FALSE);
	if (!s->done || !SetConsoleCtrlHandler(on_control, TRUE)) {
		if (s->done)
			CloseHandle(s->done);
		free(s);
		return errmsg__set(f, -EIO, "cannot wait for Ctrl-C: error %lu", GetLastError());
	}
	*out = s;
	return 0;
}

/* There are no such signals on Windows. */
int signals__reload(struct signals *s)
{
	(void)s;
	return 0;
}

int signals__report(struct signals *s)
{
	(void)s;
	return 0;
}

int signals__command(struct signals *s)
{
	(void)s;
	return 0;
}

/* Ctrl-C goes to all programs of the console, so the command has had it, too: never `sent`. */
struct signals_event signals__take(struct signals *s)
{
	(void)s;
	return (struct signals_event){.signal = (int)InterlockedExchange(&pending, 0)};
}

const char *signals__name(int signal)
{
	return signal == SIGINT ? "Ctrl-C" : "the console or the session was closed";
}

void signals__restore(const struct signals *s)
{
	(void)s;
}

/* The handler stays: it may be running, in its own thread, and the program ends anyway. */
void signals__close(struct signals *s)
{
	if (!s)
		return;
	SetEvent(s->done);
	free(s);
}
