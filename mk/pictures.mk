# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
#   make pictures      docs/images: profiles the API of docs/tutorial.md; needs root, R's httpuv, tmux and chromium

pictures: $(BUILD)/xrprof-bpf
	tools/pictures.py $< docs/images

.PHONY: pictures
