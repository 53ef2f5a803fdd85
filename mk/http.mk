# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# $(BUILD)/http-serve: what `serve` listens with, alone (tests/live/test_http.sh)

unit-tests: $(BUILD)/http-serve

$(BUILD)/http-serve: tests/fixtures/http_serve.c $(LIB)
	@mkdir -p $(@D)
	$(CROSS_COMPILE)$(CC) $(CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -MF $@.d $(ALL_LDFLAGS) -o $@ $< $(LIB) $(LDLIBS)

-include $(BUILD)/http-serve.d
