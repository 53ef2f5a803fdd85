# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
#   make fuzz TIME=60      each target of tests/fuzz for TIME seconds; T=NAME: only the targets that
#                          match (docs/internals/hacking.md)
#   make fuzz-programs     build/fuzz/bin/NAME, libFuzzer's programs, to be run with its own options
#   make fuzz-corpus       makes tests/fuzz/corpus/NAME again from recorded images, streams and
#   finds,
#                          minimised

FUZZ = $(BUILD)/fuzz
FUZZ_SAN := address,undefined
FUZZ_CFLAGS := -O1 -g -fno-omit-frame-pointer -fno-sanitize-recover=undefined -fsanitize=fuzzer-no-link,$(FUZZ_SAN)
FUZZ_TARGETS := $(patsubst tests/fuzz/%.c,%,$(filter-out tests/fuzz/seeds.c,$(sort $(wildcard tests/fuzz/*.c))))
FUZZ_MAKE = $(MAKE) BUILD=$(FUZZ) CC=$(CLANG) CFLAGS="$(FUZZ_CFLAGS)" SAN= R_HEADERS=

TIME ?= 60

fuzz: fuzz-programs
	BUILD=$(BUILD) tests/fuzz/run -t $(TIME) $(T)

fuzz-corpus: fuzz-programs
	BUILD=$(BUILD) tests/fuzz/corpus.sh $(T)

fuzz-programs:
	tools/install-deps build fuzz
	+$(FUZZ_MAKE) $(FUZZ_TARGETS:%=$(FUZZ)/bin/%) $(FUZZ)/bin/seeds

# What follows is for the inner make, whose BUILD is that of the fuzz targets.
# find and btf stand between the code and the system; libbpf is linked into btf for that.
# libmicrohttpd is linked into http for MHD_add_connection, which the profiler does not use.
FUZZ_LDFLAGS_find := $(foreach f,open readlink process_vm_readv syscall,-Wl,--wrap=$f)
FUZZ_LDFLAGS_btf := -Wl,--wrap=syscall
FUZZ_LDLIBS_btf := -l:libbpf.a
FUZZ_LDLIBS_http := -lmicrohttpd

$(BUILD)/bin/seeds: tests/fuzz/seeds.c $(LIB)
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -Itests/unit -D_GNU_SOURCE $(ALL_CFLAGS) -MMD -MP -MF $@.d -fsanitize=$(FUZZ_SAN) -o $@ $< $(LIB) $(LDLIBS)

$(BUILD)/bin/%: tests/fuzz/%.c $(LIB)
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) -Itests/unit -D_GNU_SOURCE $(ALL_CFLAGS) -MMD -MP -MF $@.d -fsanitize=fuzzer,$(FUZZ_SAN) $(FUZZ_LDFLAGS_$*) \
		-o $@ $< $(LIB) $(FUZZ_LDLIBS_$*) $(LDLIBS)

-include $(wildcard $(BUILD)/bin/*.d)

.PHONY: fuzz fuzz-corpus fuzz-programs
