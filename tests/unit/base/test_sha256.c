/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* SHA-256 of texts whose digests are known (FIPS 180-4's examples, sha256sum). */
#include "base/buf.h"
#include "base/sha256.h"
#include "tap.h"

TEST(sha256)
{
	static const struct {
		const char *text; /* @n times */
		size_t n, piece;
		const char *digest;
	} rows[] = {
		{"", 1, 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		{"abc", 1, 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		{"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1, 5,
		 "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
		{"a", 1000000, 777,
		 "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
		{"b", 55, 64, "eb2c86e932179f4ba13fe8715a26124b77d6bad290b9b4c1cc140cf633300c19"},
		{"b", 56, 64, "a5fc6e203a4c2b657d0d153885932414b2ffc6a93f0f8bf8b3183315e5a7212c"},
		{"b", 64, 64, "a0fab1377f49a759b57f63318262ebe89fabfc990e8e93ceac2984561482b9d4"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		char text[2 * SHA256_SIZE + 1];
		uint8_t digest[SHA256_SIZE];
		struct buf data = {0};
		struct sha256 s;

		for (size_t k = 0; k < rows[i].n; k++)
			buf__str(&data, rows[i].text);
		sha256__begin(&s);
		for (size_t at = 0, n; at < data.len; at += n) {
			n = data.len - at < rows[i].piece ? data.len - at : rows[i].piece;
			sha256__add(&s, data.data + at, n);
		}
		sha256__end(&s, digest);
		for (size_t k = 0; k < SHA256_SIZE; k++)
			snprintf(text + 2 * k, 3, "%02x", digest[k]);
		tap__is(text, rows[i].digest, "%zu bytes in pieces of %zu", data.len,
			rows[i].piece);
		buf__free(&data);
	}
}
