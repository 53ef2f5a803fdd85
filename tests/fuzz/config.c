/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The configuration file of `serve`. */
#include "cmd/config_file.h"
#include "cmd/linux/serve_options.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = input__text((struct input){data, size});
	struct serve_options so;
	struct errmsg f = {""};
	int err;

	serve_options__init(&so);
	err = config_file__apply(serve_options__rows, &so, text, "x.conf", &f);
	if (err > 0 || (err && !f.text[0]))
		fuzz__fail("config: %d, %s", err, f.text);
	if (!err && (!so.o.config.freq || !(so.interval >= 1) || !(so.max_cpu >= 0) ||
		     so.nlabels > SERVE_LABELS_MAX || so.nenv > SERVE_LABELS_MAX))
		fuzz__fail("something is out of its bounds");
	for (size_t i = 0; i < so.nlabels; i++)
		if (!*so.labels[i].key || !*so.labels[i].value)
			fuzz__fail("a label is empty");
	serve_options__free(&so);
	free(text);
	return 0;
}
