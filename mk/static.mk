# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
#   make static        one static binary for this machine: build/static/xrprof-bpf-x86_64 or -aarch64
#   make dist          a release, in build/dist: the source, the package for R, checksums, and for each
#                      machine a static program and a Debian package
#   make test-kernels  boot Debian's kernels in QEMU and test on them (QUICK=1: only a short profile on each)

STATIC ?= $(BUILD)/static
DIST ?= $(BUILD)/dist
STATIC_MACHINES ?= $(HOST_MACHINE)
DIST_MACHINES ?= x86_64 aarch64

# The BPF object carries the names of its sources: relative ones, for the same bytes in every folder.
BPF_CFLAGS += -ffile-prefix-map=$(CURDIR)=. -fdebug-compilation-dir=.

static: $(STATIC_MACHINES:%=static-%)

static-%:
	+tools/build-static $* $(STATIC)

dist: $(DIST_MACHINES:%=static-%) man completions
	tools/dist $(STATIC) $(SHARE) $(DIST) $(DIST_MACHINES)

test-kernels:
	tools/install-deps test-all
	$(MAKE) static-x86_64 static-aarch64
	+tools/build-static aarch64 $(STATIC) oracle-tap
	XRPROF_STATIC=$(STATIC) tests/kernels/run $(if $(QUICK),--quick) $(ROWS)

.PHONY: static dist test-kernels
