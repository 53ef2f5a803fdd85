# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
#   make bench-pause    the tables in docs/internals/benchmarks.md; needs root. PAUSE_ARGS: see tests/bench/pause.py

bench-pause: all
	tests/bench/pause.py $(BUILD)/xrprof-bpf $(PAUSE_ARGS)

.PHONY: bench-pause
