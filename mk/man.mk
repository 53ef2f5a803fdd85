# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
#   make man    build/xrprof-bpf.1, from docs/xrprof-bpf.1.in and the tables of options

man: $(BUILD)/xrprof-bpf.1

$(BUILD)/man: tools/man.c $(LIB_OBJS)
	$(CROSS_COMPILE)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -MF $@.d $(ALL_LDFLAGS) -o $@ $< $(LIB_OBJS) $(LDLIBS)

$(BUILD)/xrprof-bpf.1: docs/xrprof-bpf.1.in $(BUILD)/man
	$(BUILD)/man <$< >$@

# The program that writes it runs here: what is built for another machine is installed without it.
install: $(if $(CROSS_COMPILE),,install-man)

install-man: man
	install -D -m 0644 $(BUILD)/xrprof-bpf.1 $(DESTDIR)$(PREFIX)/share/man/man1/xrprof-bpf.1

-include $(BUILD)/man.d

.PHONY: man install-man
