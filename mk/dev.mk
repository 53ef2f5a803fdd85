# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
#   make compile_commands.json   what editors and clang tools want to know, in the top folder
#   make coverage                lines that unit tests run, room by room; fails below the floor

# --- compile_commands.json: the commands of these makefiles, as they are ---

json_string = "$(subst ",\",$(subst \,\\,$(strip $(1))))"
# One entry: command_entry FILE COMPILER-AND-FLAGS
define command_entry
  {"directory": $(call json_string,$(CURDIR)), "file": $(call json_string,$(1)),
   "command": $(call json_string,$(2) -c $(1))}
endef
COMMA := ,
define NEWLINE


endef
C_COMMAND = $(CROSS_COMPILE)$(CC) $(CPPFLAGS) $(ALL_CFLAGS)
COMMANDS = $(foreach f,$(SRCS),$(call command_entry,$f,$(C_COMMAND))$(COMMA)$(NEWLINE)) \
	$(foreach f,$(UNIT_SRCS),$(call command_entry,$f,$(C_COMMAND) -Itests/unit)$(COMMA)$(NEWLINE)) \
	$(foreach f,$(filter-out $(SRCS),$(WIN_SRCS)),$(call \
		command_entry,$f,$(WIN_CC) $(WIN_CPPFLAGS) $(WIN_CFLAGS))$(COMMA)$(NEWLINE)) \
	$(call command_entry,bpf/sampler.bpf.c,$(CLANG) $(BPF_CFLAGS))

compile_commands.json: FORCE
	$(file >$@,[$(NEWLINE)$(COMMANDS)$(NEWLINE)])
	@echo "$@: $(words $(SRCS) $(UNIT_SRCS) $(filter-out $(SRCS),$(WIN_SRCS)) one) commands"

# --- coverage ---

# By clang, which counts in the source and not in what the optimizer made of it. LLVM's tools have its version.
LLVM_COV ?= llvm-cov
LLVM_PROFDATA ?= llvm-profdata
COVERAGE = $(BUILD)/coverage
COVERAGE_FLAGS := -O1 -g -fprofile-instr-generate -fcoverage-mapping

coverage:
	$(MAKE) BUILD=$(COVERAGE) CC=$(CLANG) CFLAGS="$(COVERAGE_FLAGS)" LDFLAGS="$(COVERAGE_FLAGS)" $(COVERAGE)/xrprof-bpf unit-tests
	LLVM_COV=$(LLVM_COV) LLVM_PROFDATA=$(LLVM_PROFDATA) tests/coverage $(COVERAGE)

.PHONY: coverage
