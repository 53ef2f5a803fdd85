# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
#   make man           the man pages, in build/share/man/man1
#   make completions   what bash, zsh and fish complete by, in build/share
#   make uninstall     what `make install` installed goes
#
# Both are written by programs that read the tables of subcommands and options.

SHARE = $(BUILD)/share
MAN1 = $(SHARE)/man/man1
COMPLETE_BASH = bash-completion/completions/xrprof-bpf
COMPLETE_ZSH = zsh/site-functions/_xrprof-bpf
COMPLETE_FISH = fish/vendor_completions.d/xrprof-bpf.fish
COMPLETIONS = $(COMPLETE_BASH:%=$(SHARE)/%) $(COMPLETE_ZSH:%=$(SHARE)/%) $(COMPLETE_FISH:%=$(SHARE)/%)

$(BUILD)/man $(BUILD)/completions: $(BUILD)/%: tools/%.c $(LIB_OBJS)
	$(CROSS_COMPILE)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -MF $@.d $(ALL_LDFLAGS) -o $@ $< $(LIB_OBJS) $(LDLIBS)

man: $(MAN1)/xrprof-bpf.1

# All at once: the tables know how many there are.
$(MAN1)/xrprof-bpf.1: docs/xrprof-bpf.1.in $(BUILD)/man
	@mkdir -p $(@D)
	rm -f $(@D)/*
	for name in $$($(BUILD)/man -l); do $(BUILD)/man $$name <$< >$(@D)/xrprof-bpf-$$name.1 || exit 1; done
	$(BUILD)/man <$< >$@

completions: $(COMPLETIONS)

$(SHARE)/$(COMPLETE_BASH): SHELL_NAME = bash
$(SHARE)/$(COMPLETE_ZSH): SHELL_NAME = zsh
$(SHARE)/$(COMPLETE_FISH): SHELL_NAME = fish
$(COMPLETIONS): $(BUILD)/completions $(wildcard tools/completions/*.in)
	@mkdir -p $(@D)
	$(BUILD)/completions $(SHELL_NAME) <tools/completions/$(SHELL_NAME).in >$@

# The programs that write them run here: what is built for another machine is installed without them.
install: $(if $(CROSS_COMPILE),,install-share)

install-share: man completions
	install -d $(DESTDIR)$(PREFIX)/share/man/man1
	rm -f $(DESTDIR)$(PREFIX)/share/man/man1/xrprof-bpf.1 $(DESTDIR)$(PREFIX)/share/man/man1/xrprof-bpf-*.1
	install -m 0644 $(MAN1)/*.1 $(DESTDIR)$(PREFIX)/share/man/man1
	for file in $(COMPLETE_BASH) $(COMPLETE_ZSH) $(COMPLETE_FISH); do \
		install -D -m 0644 $(SHARE)/$$file $(DESTDIR)$(PREFIX)/share/$$file || exit 1; \
	done

uninstall:
	rm -f $(INSTALLED) $(DESTDIR)$(PREFIX)/bin/stackcollapse-Rprof.R
	rm -f $(DESTDIR)$(PREFIX)/share/man/man1/xrprof-bpf.1 $(DESTDIR)$(PREFIX)/share/man/man1/xrprof-bpf-*.1
	rm -f $(addprefix $(DESTDIR)$(PREFIX)/share/,$(COMPLETE_BASH) $(COMPLETE_ZSH) $(COMPLETE_FISH))

-include $(BUILD)/man.d $(BUILD)/completions.d

.PHONY: man completions install-share uninstall
