# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""usage: shiny.py PORT TIMES OUTPUT...

A browser for an app of shiny: change its input `n` so often, and wait each time until all of these outputs are there."""
import json
import os
import socket
import struct
import sys


class WebSocket:
    def __init__(self, port, path):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=120)
        self.socket.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n".encode())
        self.input = self.socket.makefile("rb")
        if b" 101 " not in self.input.readline():
            sys.exit("shiny.py: no web socket")
        while self.input.readline() not in (b"\r\n", b""):
            pass

    def send(self, message):
        data, mask = json.dumps(message).encode(), os.urandom(4)
        length = struct.pack(">BB", 0x81, 0x80 | len(data)) if len(data) < 126 else struct.pack(">BBH", 0x81, 0x80 | 126, len(data))
        self.socket.sendall(length + mask + bytes(byte ^ mask[i % 4] for i, byte in enumerate(data)))

    def receive(self):
        kind, length = self.input.read(2)
        if length >= 126:
            length = int.from_bytes(self.input.read(2 if length == 126 else 8), "big")
        data = self.input.read(length)
        return json.loads(data) if kind & 15 == 1 else None


port, times, outputs = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
page = WebSocket(port, "/websocket/")
for n in range(times):
    data = {f".clientdata_output_{name}_hidden": False for name in outputs} if not n else {}
    page.send({"method": "update" if n else "init", "data": {**data, "n:shiny.number": n}})
    waiting = set(outputs)
    while waiting:
        message = page.receive() or {}
        waiting -= {name for name, value in (message.get("values") or {}).items() if str(value) == str(n)}
