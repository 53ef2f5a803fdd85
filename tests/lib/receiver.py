#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""A server that profiles are sent to, and that behaves as a file says.

usage: receiver.py DIR [CERTIFICATE KEY]

Writes the port, which is PORT or a free one, to DIR/port. Each request becomes a line of JSON in
DIR/requests and a body DIR/body.N. DIR/behave has what becomes of the next requests, a word each;
when there is none, `ok`. DIR/always has a word and a text: it is what becomes of each request whose
address has that text. At SIGTERM it ends, but never between such a line with `ok` and its answer.
The words:

  ok          200
  CODE        that status; CODE:TEXT with that Retry-After; CODE=TEXT with that body; CODE>URL with that Location. _ is a blank
  slow        no answer for a minute; drip: a byte of one before that
  reset       the connection is reset before an answer
  status      half a line of status, then the end; head: half of the headers; body: half of a body that is announced
  garbage     bytes that are not HTTP
  huge        200, and a body without an end; heads: 200, and headers without an end
  partial     200, and what OTLP answers when profiles were refused
"""
import errno
import glob
import http.server
import json
import os
import random
import re
import signal
import socket
import ssl
import struct
import sys
import threading
import time

# What is sent in place of an answer, and what then has no end; the connection ends.
RAW = {
    "status": (b"HTTP/1.1 2", b""),
    "head": (b"HTTP/1.1 200 OK\r\nContent-Le", b""),
    "body": (b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf", b""),
    "garbage": (b"\x00\x01\x02 220 smtp ready\r\n" * 10, b""),
    "huge": (b"HTTP/1.1 200 OK\r\nContent-Length: 999999999999\r\n\r\n", b"x" * 65536),
    "heads": (b"HTTP/1.1 200 OK\r\n", b"X-More: " + b"y" * 1000 + b"\r\n"),
}
REFUSED = b"\x0a\x0d\x08\x01\x12\x09no stacks"  # one profile, by OTLP

folder = sys.argv[1]
lock = threading.Lock()


def behaviour(address):
    path = os.path.join(folder, "always")
    if os.path.exists(path):
        word, text = open(path, encoding="utf-8").read().split()
        if text in address:
            return word
    path = os.path.join(folder, "behave")
    words = open(path, encoding="utf-8").read().split() if os.path.exists(path) else []
    if not words:
        return "ok"
    with open(path + ".new", "w", encoding="utf-8") as out:
        out.write(" ".join(words[1:]))
    os.rename(path + ".new", path)
    return words[0]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    count = 0

    def log_message(self, *_):
        pass

    def keep(self, word):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        number = Handler.count
        Handler.count += 1
        with open(os.path.join(folder, f"body.{number}"), "wb") as out:
            out.write(body)
        with open(os.path.join(folder, "requests"), "a", encoding="utf-8") as out:
            out.write(json.dumps({"n": number, "path": self.path, "was": word, "at": time.monotonic(),
                                  "headers": {k.lower(): v for k, v in self.headers.items()}}) + "\n")

    def answer(self, code, body=b"", **headers):
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def raw(self, start, more):
        self.close_connection = True
        try:
            self.wfile.write(start)
            for _ in range(1 << 14 if more else 0):
                self.wfile.write(more)
        except OSError:
            pass

    def do_POST(self):
        with lock:
            word = behaviour(self.path)
            self.keep(word)
            if word == "ok":
                self.answer(200)
        if word == "ok":
            pass
        elif code := re.fullmatch(r"(\d+)(?:([:>=])(.*))?", word):
            number, kind, text = code.groups(default="")
            text = text.replace("_", " ")
            headers = {":": {"Retry_After": text}, ">": {"Location": text}}.get(kind, {})
            self.answer(int(number), text.encode() if kind == "=" else b"", **headers)
        elif word in ("slow", "drip"):
            self.raw(b"H" if word == "drip" else b"", b"")
            time.sleep(60)
        elif word == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            self.connection.close()
        elif word in RAW:
            self.raw(*RAW[word])
        elif word == "partial":
            self.answer(200, REFUSED, Content_Type="application/x-protobuf")
        else:
            sys.exit(f"{word}: unknown")


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass


def kept():
    """The ports of all tests' servers, also of those that are away for a while."""
    for path in glob.glob("/tmp/xrprof-test.*/*/port*"):
        try:
            yield int(open(path, encoding="utf-8").read())
        except (OSError, ValueError):
            pass


def listen(port):
    """At that port, or 0: at one that is free now and for the next server, which the kernel gives to no connection."""
    free = list(set(range(10000, 32768)).difference(kept()))
    while True:
        try:
            return Server(("127.0.0.1", port or random.choice(free)), Handler)
        except OSError as error:
            if port or error.errno != errno.EADDRINUSE:
                raise


def end(*_):
    with lock:
        os._exit(0)


def main():
    signal.signal(signal.SIGTERM, end)
    server = listen(int(os.environ.get("PORT", "0")))
    if len(sys.argv) > 2:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[2], sys.argv[3])
        server.socket = context.wrap_socket(server.socket, server_side=True)
    try:
        Handler.count = 1 + max((int(name[5:]) for name in os.listdir(folder) if name.startswith("body.")), default=-1)
        with open(os.path.join(folder, "port.new"), "w", encoding="utf-8") as out:
            out.write(str(server.server_address[1]))
        os.rename(os.path.join(folder, "port.new"), os.path.join(folder, "port"))
        server.serve_forever()
    except KeyboardInterrupt:
        pass


main()
