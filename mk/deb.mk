# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
#   make deb       Debian's package: build/deb/xrprof-bpf_VERSION_ARCH.deb (docs/guide/deployment.md)

deb:
	tools/deb/build $(BUILD)/deb

.PHONY: deb
