/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The command line of `record`: the words of the input, parted by NUL. */
#include "cmd/options.h"
#include "fuzz.h"

#define WORDS_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *argv[WORDS_MAX + 2], *text = input__text((struct input){data, size});
	struct errmsg f = {""};
	struct options o;
	int argc = 0, err;

	argv[argc++] = (char *)"xrprof-bpf";
	for (size_t at = 0; at < size && argc <= WORDS_MAX; at += strlen(text + at) + 1)
		argv[argc++] = text + at;
	argv[argc] = NULL;
	err = options__parse(&o, argc, argv, &f);
	if (err > 0 || (err && !f.text[0]))
		fuzz__fail("options: %d, %s", err, f.text);
	if (!err && !o.help && !o.version) {
		if (!o.config.format || !o.config.output || !o.config.freq ||
		    !(o.config.duration >= 0))
			fuzz__fail("something is missing");
		if (!o.config.all && !o.config.npids && !o.config.command)
			fuzz__fail("no process is selected");
		for (size_t i = 0; i < o.config.npids; i++)
			if (o.config.pids[i] <= 0)
				fuzz__fail("pid %d", (int)o.config.pids[i]);
	}
	options__free(&o);
	free(text);
	return 0;
}
