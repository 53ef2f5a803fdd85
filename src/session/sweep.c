/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "session/sweep.h"

#include "base/clock.h"

#define SWEEP_MS 1000

bool sweep__run(struct sweep *s, struct lifecycle *l, uint64_t now)
{
	const struct notes *notes = &l->config->notes;
	uint64_t counts[XR_COUNTERS];
	uint32_t sizes[CROWD_PLACES];
	struct process *p = NULL;
	bool again;

	if (now - s->at < SWEEP_MS * NS_PER_MS)
		return false;
	s->at = now;
	if (l->ops->counters(l->engine, counts))
		return false;
	if (counts[XR_ROWS_FULL] && !s->rows_full)
		notes__user(notes, "too many R processes start at once: some are not profiled");
	if (counts[XR_ROWS_FULL] != s->rows_full)
		crowd__full(&l->crowd, CROWD_ENGINE, l->rows, now);
	s->rows_full = counts[XR_ROWS_FULL];
	/* there is room again: who did not get in before? */
	lifecycle__sizes(l, sizes);
	again = crowd__over(&l->crowd, sizes, now);
	if (counts[XR_EVENTS_LOST] == s->events_lost || !l->ops->holds)
		return again;
	s->events_lost = counts[XR_EVENTS_LOST];
	notes__debug(notes, "records of forks, execs or exits were lost: scanning all processes");
	while ((p = processes__next(&l->processes, p)))
		if (p->state == PROCESS_SAMPLED && !l->ops->holds(l->engine, p->pid, p->serial))
			p->execed = true;
	return true;
}
