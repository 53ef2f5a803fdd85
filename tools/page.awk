# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# awk -v style=FILE -v script=FILE -v style_sum=HEX -v script_sum=HEX -v part=before|after -f tools/page.awk page.html
#
# The page that a profile is put into, as a string of C: page.html with the style sheet and the script in it, and their
# SHA-256 sums in its policy, so that a browser executes these bytes and no others. The profile's place is a line
# `{{profile}}`: part says which side of it is wanted.

# The base64 of the 32 bytes that are 64 hexadecimal digits in text.
function base64(text, digits, out, i, n) {
	digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	text = text "00"
	for (i = 1; i < 66; i += 3) {
		n = hex(text, i) * 256 + hex(text, i + 1) * 16 + hex(text, i + 2)
		out = out substr(digits, int(n / 64) + 1, 1) substr(digits, n % 64 + 1, 1)
	}
	return substr(out, 1, 43) "="
}

function hex(text, i) {
	return index("0123456789abcdef", substr(text, i, 1)) - 1
}

# One line of the page.
function put(line) {
	if (passed != (part == "after"))
		return
	gsub(/\\/, "&&", line)
	gsub(/"/, "\\\"", line)
	print "\"" line "\\n\""
}

function put_file(name, line, status) {
	while ((status = (getline line <name)) > 0)
		put(line)
	if (status < 0) {
		print name ": cannot be read" >"/dev/stderr"
		failed = 1
		exit 1
	}
}

BEGIN {
	if (length(style_sum) != 64 || length(script_sum) != 64) {
		print "page.awk: no SHA-256 sums" >"/dev/stderr"
		failed = 1
		exit 1
	}
}

{
	sub(/\{\{style_sum\}\}/, base64(style_sum))
	sub(/\{\{script_sum\}\}/, base64(script_sum))
}

$0 == "{{style}}" { put_file(style); next }
$0 == "{{script}}" { put_file(script); next }
$0 == "{{profile}}" { passed = 1; next }
{ put($0) }

END {
	if (!failed && !passed) {
		print "page.awk: no place for a profile" >"/dev/stderr"
		failed = 1
	}
	exit failed
}
