/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* SHA-256 of texts whose digests are known (FIPS 180-4's examples, sha256sum). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "tap.h"

/* Added in pieces of @piece bytes. */
static bool digest_is(const char *data, size_t len, size_t piece, const char *wanted)
{
	uint8_t digest[SHA256_SIZE];
	char text[2 * SHA256_SIZE + 1];
	struct sha256 s;

	sha256__begin(&s);
	for (size_t at = 0; at < len; at += piece)
		sha256__add(&s, data + at, len - at < piece ? len - at : piece);
	sha256__end(&s, digest);
	for (size_t i = 0; i < SHA256_SIZE; i++)
		snprintf(text + 2 * i, 3, "%02x", digest[i]);
	return !strcmp(text, wanted);
}

TEST(digests)
{
	static const struct {
		size_t n; /* times b */
		const char *digest;
	} lengths[] = {
		{55, "eb2c86e932179f4ba13fe8715a26124b77d6bad290b9b4c1cc140cf633300c19"},
		{56, "a5fc6e203a4c2b657d0d153885932414b2ffc6a93f0f8bf8b3183315e5a7212c"},
		{63, "94e419fabac7f930810f9636354042f8c1426d2f834d4ab65c93dc1e69326b13"},
		{64, "a0fab1377f49a759b57f63318262ebe89fabfc990e8e93ceac2984561482b9d4"},
		{119, "68297a9eb141ce16bbc0847da1c0c48e2858704feaa13993bde29f87a198a6e1"},
		{120, "392add47fbaa8197a874ebe770a947a26dd6f2becce5f64688cc4d18c9da93bd"},
	};
	static const char two[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
	const size_t million = 1000000;
	char *many = malloc(million);

	if (!many)
		tap__bail("no memory");
	tap__ok(digest_is("", 0, 1,
			  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
		"of nothing");
	tap__ok(digest_is("abc", 3, 3,
			  "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
		"of one block");
	tap__ok(digest_is(two, strlen(two), 5,
			  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"),
		"of two blocks");
	memset(many, 'a', million);
	tap__ok(digest_is(many, million, 777,
			  "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
		"of a million bytes");
	memset(many, 'b', 120);
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++)
		tap__ok(digest_is(many, lengths[i].n, 64, lengths[i].digest), "of %zu bytes",
			lengths[i].n);
	free(many);
}
