/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The description of a process: which variables become labels, its service, and limits. */
#define _GNU_SOURCE
#include "target/describe.h"
#include "tap.h"

/* Literals of several texts, without the NUL that C puts behind them. */
#define ARGUMENTS(text)	  .arguments = (text), .arguments_len = sizeof(text) - 1
#define ENVIRONMENT(text) .environment = (text), .environment_len = sizeof(text) - 1
#define FROM(...)	  (&(struct describe_from){__VA_ARGS__})

/* What is made: "command|key=value;key=value;". */
static const char *made(const struct label_rules *rules, const struct describe_from *from)
{
	static char shown[2 * DESCRIBE_TEXT];
	struct describe_from whole = *from;
	char text[DESCRIBE_TEXT];
	const char *end, *at;
	size_t n;

	whole.cgroup = from->cgroup ? from->cgroup : "";
	whole.comm = from->comm ? from->comm : "R";
	end = text + describe__make(rules, &whole, text);
	at = describe__next(text, end);
	n = (size_t)snprintf(shown, sizeof(shown), "%s|", text);
	while (at && *at) {
		const char *value = describe__next(at, end);

		tap__bail_if(!value, "a key without a value");
		n += (size_t)snprintf(shown + n, sizeof(shown) - n, "%s=%s;", at, value);
		at = describe__next(value, end);
	}
	tap__bail_if(!at || at + 1 != end, "it does not end");
	return shown;
}

TEST(rules)
{
	char bad[] = "|1A|A=|A=b-c|=b|A B|A=b=c|A2345678901234567890123456789012345678901";
	struct label_rule r;
	struct errmsg f;
	char *at = bad;
	char key[DESCRIBE_KEY];
	const char *value;

	tap__ok(!label_rule__parse("DEPLOY_ENV", &r, &f) && !strcmp(r.name, "DEPLOY_ENV") &&
			!strcmp(r.label, "deploy_env"),
		"a variable is a label in lower case");
	tap__ok(!label_rule__parse("DEPLOY_ENV=Env", &r, &f) && !strcmp(r.name, "DEPLOY_ENV") &&
			!strcmp(r.label, "env"),
		"or one of another name");
	tap__ok(!label_rule__parse("A234567890123456789012345678901234567890", &r, &f),
		"names may have 40 letters");
	for (const char *one; (one = strsep(&at, "|"));)
		tap__ok(label_rule__parse(one, &r, &f) == -EINVAL, "'%s' is refused: %s", one,
			f.text);
	value = label__parse("Team=a=b c", key, &f);
	tap__ok(value && !strcmp(value, "a=b c") && !strcmp(key, "team"), "a label of the run");
	tap__ok(!label__parse("team", key, &f) && !label__parse("team=", key, &f) &&
			!label__parse("=x", key, &f),
		"malformed labels are refused: %s", f.text);
}

TEST(environment)
{
	static const char *const env[] = {"TEAM", "DEPLOY_ENV=env", "EMPTY",	 "MISSING",
					  "DUP",  "OTHER=team",	    "not a one", NULL};
	const struct label_rules rules = {.env = env}, none = {0};

	tap__is(made(&rules, FROM(ENVIRONMENT("HOME=/root\0XTEAM=no\0TEAM=blue\0TEAMS=no\0EMPTY=\0"
					      "DUP=1\0DUP=2\0OTHER=red\0SECRET=s3cret\0"
					      "DEPLOY_ENV=prod=1\0"))),
		"|service=R;team=blue;env=prod=1;dup=1;",
		"the variables that are listed, whole names, the first of each, none that is "
		"empty");
	tap__is(made(&none, FROM(ENVIRONMENT("TEAM=blue\0SECRET=s3cret\0"))), "|service=R;",
		"where none is listed there is none");
	tap__is(made(&rules, FROM(ENVIRONMENT("TEAM=blue\0DUP=cut o"))), "|service=R;team=blue;",
		"one that was cut is not there");
	tap__is(made(&rules, FROM(ENVIRONMENT("TEAM=a\xff\x1b[31m\nb\u202e\xc3\0"))),
		"|service=R;team=a??[31m?b??;", "control characters and invalid UTF-8 become `?`");
	tap__is(made(&rules, FROM(ENVIRONMENT("\0\0=\0TEAM\0TEAM=x\0"))), "|service=R;team=x;",
		"entries that are not variables are skipped");
}

TEST(bounds)
{
	static const char *const env[] = {"A00", "A01", "A02", "A03", "A04", "A05", "A06",
					  "A07", "A08", "A09", "A10", "A11", "A12", "A13",
					  "A14", "A15", "A16", "A17", NULL};
	static char environment[40 * 1024], arguments[9000];
	const struct label_rules rules = {.env = env};
	struct describe_from from = {.cgroup = "", .environment = environment};
	char text[DESCRIBE_TEXT], comm[400];
	size_t size, labels = 0;
	const char *at;
	bool good = true;

	memset(comm, 'c', sizeof(comm) - 1);
	comm[sizeof(comm) - 1] = '\0';
	from.comm = comm;
	for (int i = 0; i < 18; i++) {
		size_t begin = from.environment_len;

		from.environment_len += (size_t)sprintf(environment + begin, "A%02d=x", i);
		for (int k = 0; k < 500; k++) /* two bytes each */
			from.environment_len +=
				(size_t)sprintf(environment + from.environment_len, "é");
		from.environment_len++;
	}
	for (size_t i = 0; i < sizeof(arguments) - 2; i += 2)
		memcpy(arguments + i, "é", 2);
	from.arguments = arguments;
	from.arguments_len = sizeof(arguments);
	size = describe__make(&rules, &from, text);
	tap__ok(size <= DESCRIBE_TEXT && !text[size - 1], "it is bounded: %zu bytes", size);
	tap__ok(strlen(text) == 1024, "the command line, %zu bytes", strlen(text));
	for (at = describe__next(text, text + size); *at; at = describe__next(at, text + size)) {
		at = describe__next(at, text + size);
		good &= strlen(at) == (labels ? 127 : 128) && !strchr(at, '?');
		labels++;
	}
	tap__ok(labels == 17 && good, "the service and %zu labels, none cut within a character",
		labels - 1);
	arguments[0] = 'a'; /* so that the cut is within one */
	arguments[1] = 'b';
	from.arguments++;
	from.arguments_len--;
	describe__make(&rules, &from, text);
	tap__ok(strlen(text) == 1023, "neither is the command line");
	memset(arguments, 0x80, sizeof(arguments));
	describe__make(&rules, &from, text);
	tap__ok(strlen(text) >= 1020, "where there are no characters it is cut where it may be");
}

TEST(command)
{
	const struct label_rules rules = {0};

	tap__is(made(&rules, FROM(ARGUMENTS("/usr/lib/R/bin/exec/R\0--no-echo\0-e\0x <- 1\n\0"))),
		"/usr/lib/R/bin/exec/R --no-echo -e x <- 1\n|service=R;",
		"words with blanks between them, as they are");
	tap__is(made(&rules, FROM(ARGUMENTS("R\0\0a\0\0\0"))), "R  a|service=R;",
		"an empty word is a blank, but not at the end");
	tap__is(made(&rules, FROM(ARGUMENTS("R"))), "R|service=R;",
		"a missing end is not an error");
	tap__is(made(&rules, FROM(ARGUMENTS(""))), "|service=R;",
		"one that cannot be read is empty");
}

TEST(service)
{
	static const char *const env[] = {"OTEL_SERVICE_NAME", "APP=service", NULL};
	static const char *const otel[] = {"OTEL_SERVICE_NAME=otel", NULL};
	static const char *const odd[] = {"OTEL_SERVICE_NAME", "TEAM", NULL};
	const struct label_rules fixed = {.env = env, .service = "fix\ned"};
	const struct label_rules by_env = {.env = env}, by_otel = {.env = otel}, none = {0};

#define UNIT   .cgroup = "/system.slice/shiny.service"
#define SCRIPT ARGUMENTS("R\0--file=/srv/api/plumber.R\0")
	tap__is(made(&fixed, FROM(ENVIRONMENT("APP=app\0"), UNIT, SCRIPT)),
		"R --file=/srv/api/plumber.R|service=fix?ed;", "the one that is given");
	tap__is(made(&by_env, FROM(ENVIRONMENT("OTEL_SERVICE_NAME=o\0APP=app\0"), UNIT)),
		"|service=app;otel_service_name=o;", "the variable that becomes it");
	tap__is(made(&by_otel, FROM(ENVIRONMENT("OTEL_SERVICE_NAME=o\0"), UNIT)),
		"|service=o;otel=o;", "OpenTelemetry's, where it is listed");
	tap__is(made(&(struct label_rules){.env = odd}, FROM(ENVIRONMENT("TEAM=t\0"), UNIT)),
		"|service=shiny;team=t;", "where that is not set, the systemd unit");
	tap__is(made(&none, FROM(ENVIRONMENT("OTEL_SERVICE_NAME=o\0APP=app\0"), UNIT, SCRIPT)),
		"R --file=/srv/api/plumber.R|service=shiny;", "nothing that is not listed");
	tap__is(made(&none, FROM(.cgroup = "/system.slice/shiny@west.service/worker")),
		"|service=shiny@west;", "of an instance, in a group below it");
	tap__is(made(&none, FROM(.cgroup = "/user.slice/user-7.slice/user@7.service/app.slice/"
					   "app-r\\x2dstudio.service")),
		"|service=app-r-studio;", "the innermost, its name as systemd unescapes it");
	tap__is(made(&none,
		     FROM(.cgroup = "/user.slice/user-7.slice/user@7.service/x.scope", SCRIPT)),
		"R --file=/srv/api/plumber.R|service=plumber.R;",
		"a user's manager is not a service: the script's name");
	tap__is(made(&none,
		     FROM(.cgroup = "/system.slice/cron.service", ARGUMENTS("R\0-f\0job.R\0"))),
		"R -f job.R|service=job.R;", "cron neither; -f names the script, too");
	tap__is(made(&none, FROM(.cgroup = "/system.slice/docker.service/docker/abc")),
		"|service=R;", "nor what runs containers: the process' name");
	tap__is(made(&none,
		     FROM(.cgroup = "/.service/init.scope", ARGUMENTS("R\0--args\0--file=x\0"))),
		"R --args --file=x|service=R;", "not a unit, and the script's arguments");
	tap__is(made(&none, FROM(ARGUMENTS("R\0-f"))), "R -f|service=R;",
		"a script that is missing");
	tap__is(made(&none, FROM(ARGUMENTS("R\0--file=/a/\0"))), "R --file=/a/|service=R;",
		"or has no name");
	tap__is(made(&none, FROM(.comm = "", .cgroup = "")), "|",
		"an empty process has no description");
	tap__is(made(&none, FROM(.cgroup = "/a\\x2f\\xff\\x00\\x1b.service")),
		"|service=a/?\\x00?;", "an escape makes nothing that acts");
}
