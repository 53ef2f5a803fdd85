# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
#   make            the profiler: build/xrprof-bpf
#   make demo       install what is missing, build, profile a live R for a few seconds
#   make check      a minute: checks and unit tests; no root, nothing more installed than to build; T=NAME: only what matches
#   make test       ten minutes: install what is missing, build, and also run the tests on a live R; TESTS= options of tests/run
#   make test-all   45 minutes: everything, on all R releases and kernels
#   make bench      the figures of a sample in docs/internals/benchmarks.md
#   make install    PREFIX (/usr/local), DESTDIR; no capabilities: sudo is the way
#   make install-caps   the same with capabilities, for everybody's own R; GROUP=NAME: for that group, and every R
#   make uninstall  removes it, with the same PREFIX and DESTDIR
#   make man        the man pages, in build/share/man/man1; make completions: for bash, zsh and fish
#
# BUILD=DIR builds elsewhere; SAN=address,undefined adds sanitizers; R_HEADERS=DIR names R's headers.
# WERROR=1 turns warnings into errors: for CI and developers, whose compilers are known.

BUILD ?= build
PREFIX ?= /usr/local
CC ?= cc
CLANG ?= clang
PROTOC_C ?= protoc-c
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool /usr/local/sbin/bpftool) bpftool)
PKG_CONFIG ?= pkg-config

# ARCH as the kernel's BTF and the vmlinux folder name it; CROSS_COMPILE=aarch64-linux-gnu- crosses.
HOST_MACHINE := $(shell $(CROSS_COMPILE)$(CC) -dumpmachine 2>/dev/null | cut -d- -f1)
ARCH ?= $(if $(filter aarch64,$(HOST_MACHINE)),arm64,$(HOST_MACHINE))
BPF_ARCH := $(if $(filter x86_64,$(ARCH)),x86,$(ARCH))

WERROR ?=
WARN := -Wall -Wextra $(if $(WERROR),-Werror)
CFLAGS ?= -O2 -g
CPPFLAGS += -Iinclude -Isrc -I$(BUILD)
ALL_CFLAGS = -std=gnu11 $(WARN) $(CFLAGS) $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer)
LDLIBS ?= -lbpf -ldw -lelf -lcapstone -lprotobuf-c -lncursesw -ltinfo -lseccomp -liberty -llzma -lz
ALL_LDFLAGS = $(LDFLAGS) $(if $(SAN),-fsanitize=$(SAN))
BPF_CFLAGS := -g -O2 $(WARN) -Wno-unused-parameter -Wno-gnu-variable-sized-type-not-at-end \
	-target bpf -D__bpf__ -D__TARGET_ARCH_$(BPF_ARCH) -Ivmlinux -Ivmlinux/$(ARCH) -Iinclude -Ibpf

# A path component decides the platform: linux/ and engine/bpf/ are for Linux, win32/ for Windows.
ALL_SRCS := $(sort $(shell find src -name '*.c'))
SRCS := $(foreach f,$(ALL_SRCS),$(if $(findstring /win32/,$f),,$f))
# The messages of pprof's files, and of OTLP.
PROTOS := pprof otlp
OBJS := $(SRCS:src/%.c=$(BUILD)/obj/%.o) $(PROTOS:%=$(BUILD)/obj/profile/%.pb-c.o)
# All but main(): the program and all tests link it.
LIB := $(BUILD)/libxrprof.a
LIB_OBJS := $(filter-out $(BUILD)/obj/main.o,$(OBJS))
# One program of unit tests for each folder of tests/unit, of all files in it and below.
UNIT_SRCS := $(sort $(shell find tests/unit -name '*.c'))
UNIT_OBJS := $(UNIT_SRCS:tests/unit/%.c=$(BUILD)/tests/obj/%.o)
UNIT_ROOMS := $(patsubst tests/unit/%/,%,$(sort $(wildcard tests/unit/*/)))
UNIT_BINS := $(UNIT_ROOMS:%=$(BUILD)/tests/unit/%)
UNIT_CFLAGS ?= -O0

R_HEADERS ?= $(firstword $(wildcard /usr/share/R/include /usr/lib/R/include /usr/lib64/R/include))

all: $(BUILD)/xrprof-bpf $(if $(wildcard tools/check_r_headers.c),$(if $(R_HEADERS),$(BUILD)/r-headers.ok))

$(BUILD)/xrprof-bpf: $(BUILD)/obj/main.o $(LIB)
	$(CROSS_COMPILE)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) -o $@ $^ $(LDLIBS)

# Made anew each time: nothing of a source that is gone stays in it.
$(LIB): $(LIB_OBJS) $(BUILD)/lib.list
	rm -f $@
	$(CROSS_COMPILE)$(AR) rcsD $@ $(LIB_OBJS)

# What the library is made of: newer when a source has come or gone, not when BUILD is spelled in another way.
LIB_LIST = $(LIB_OBJS:$(BUILD)/%=%)
$(BUILD)/lib.list: FORCE
	@mkdir -p $(@D)
	@echo '$(LIB_LIST)' | cmp -s - $@ || echo '$(LIB_LIST)' >$@

# What is generated before anything is compiled.
GENERATED := $(BUILD)/sampler.skel.h $(PROTOS:%=$(BUILD)/%.pb-c.h)

$(BUILD)/obj/%.o: src/%.c Makefile | $(GENERATED)
	@mkdir -p $(@D)
	$(CROSS_COMPILE)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/sampler.bpf.o: bpf/sampler.bpf.c Makefile
	@mkdir -p $(@D)
	$(CLANG) $(BPF_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/sampler.skel.h: $(BUILD)/sampler.bpf.o
	$(BPFTOOL) gen skeleton $< name sampler > $@

$(BUILD)/%.pb-c.h: src/profile/%.proto
	@mkdir -p $(@D)
	$(PROTOC_C) -I$(<D) --c_out=$(BUILD) $(<F)

$(PROTOS:%=$(BUILD)/%.pb-c.c): %.c: %.h

$(BUILD)/obj/profile/%.pb-c.o: $(BUILD)/%.pb-c.c
	@mkdir -p $(@D)
	$(CROSS_COMPILE)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# The rows of the table of layouts.
$(BUILD)/layouts.inc: tools/layouts.awk tools/rcntxt-offsets.csv
	@mkdir -p $(@D)
	awk -f $^ > $@

$(BUILD)/obj/target/layouts.o: $(BUILD)/layouts.inc

# The system calls that the C library knows by name; the compiler fills in their numbers.
$(BUILD)/syscalls.inc: Makefile
	@mkdir -p $(@D)
	echo '#include <sys/syscall.h>' | $(CROSS_COMPILE)$(CC) $(ALL_CFLAGS) -E -dM - | \
		sed -nE 's/^#define SYS_([a-z0-9_]+) .*/{SYS_\1, "\1"},/p' | LC_ALL=C sort > $@

$(BUILD)/obj/os/linux/syscalls.o: $(BUILD)/syscalls.inc

# R's own headers, when they are there, confirm our constants; the object is thrown away.
$(BUILD)/r-headers.ok: tools/check_r_headers.c include/sexp.h
	@mkdir -p $(@D)
	$(CROSS_COMPILE)$(CC) -std=gnu11 $(WARN) -Iinclude -I$(R_HEADERS) -fsyntax-only $<
	@touch $@

$(BUILD)/tests/obj/%.o: tests/unit/%.c Makefile | $(GENERATED)
	@mkdir -p $(@D)
	$(CROSS_COMPILE)$(CC) $(CPPFLAGS) -Itests/unit $(ALL_CFLAGS) $(UNIT_CFLAGS) -MMD -MP -c -o $@ $<

# The BPF programs as a part of a program.
$(BUILD)/tests/obj/bpf/sampler.o: CPPFLAGS += -Ivmlinux -Ivmlinux/$(ARCH) -Ibpf

$(foreach r,$(UNIT_ROOMS),$(eval $(BUILD)/tests/unit/$r: $(filter $(BUILD)/tests/obj/$r/%,$(UNIT_OBJS))))
# Functions that tests stand in for (__wrap_NAME in tests/unit): of all rooms, and of one.
UNIT_WRAPS := os__now
UNIT_WRAPS_target := proc__read proc__fopen
UNIT_WRAPS_cmd := session__gauges
UNIT_WRAPS_session := asker__ask
UNIT_WRAPS_engine := perf_events__switches perf_events__freq perf_events__count cpus__online ptrace pread nanosleep bpf_map_update_elem

$(UNIT_BINS): $(BUILD)/tests/obj/main.o $(BUILD)/tests/obj/clock.o $(LIB)
	@mkdir -p $(@D)
	@rm -rf $@
	$(CROSS_COMPILE)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(UNIT_WRAPS:%=-Wl,--wrap=%) $(UNIT_WRAPS_$(@F):%=-Wl,--wrap=%) -o $@ $(filter %.o,$^) $(LIB) $(LDLIBS)

unit-tests: $(UNIT_BINS)

check:
	@$(MAKE) -s -j$$(nproc) all $(UNIT_BINS)
	@BUILD=$(BUILD) exec tests/run -c $(T)

test:
	@tools/install-deps test
	@echo building
	@$(MAKE) -s -j$$(nproc) all unit-tests
	@BUILD=$(BUILD) exec tests/run $(TESTS)

test-all:
	@tools/install-deps test-all
	@echo building
	@$(MAKE) -s -j$$(nproc) all unit-tests
	@BUILD=$(BUILD) exec tests/run -a $(TESTS)

demo:
	+@MAKE="$(MAKE)" BUILD=$(BUILD) tools/demo

bench:
	tools/install-deps test-all
	$(MAKE) all $(BUILD)/meter
	BUILD=$(BUILD) tests/bench/run

# With install-caps users who are not root profile their own R with BPF as well; with GROUP=NAME only the members of
# that group run the program, and profile every R (SECURITY.md).  The program raises what is permitted itself.
INSTALLED := $(DESTDIR)$(PREFIX)/bin/xrprof-bpf
CAPS := cap_bpf,cap_perfmon,cap_sys_ptrace+p
install: all
	install -D -m 0755 $(BUILD)/xrprof-bpf $(INSTALLED)
	install -D -m 0755 tools/stackcollapse-Rprof.R $(DESTDIR)$(PREFIX)/bin/stackcollapse-Rprof.R

install-caps: install
	chown root:$(or $(GROUP),root) $(INSTALLED)
	chmod $(if $(GROUP),0750,0755) $(INSTALLED)
	setcap $(CAPS) $(INSTALLED)

clean:
	rm -rf $(BUILD)

-include $(wildcard mk/*.mk)
-include $(OBJS:.o=.d) $(BUILD)/sampler.bpf.d $(UNIT_OBJS:.o=.d)

FORCE:

.PHONY: all unit-tests check test test-all demo bench install install-caps clean FORCE
.DELETE_ON_ERROR:
