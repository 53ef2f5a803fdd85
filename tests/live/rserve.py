# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""rserve.py PORT CODE: have Rserve at that port of this machine evaluate CODE, in a new connection
and so in a new process (the protocol QAP1: Rsrv.h of Rserve)."""
import socket
import struct
import sys

VOID_EVAL, OK, STRING = 2, 0x10001, 4


def receive(connection, size):
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            sys.exit("rserve.py: the server closed the connection")
        data += part
    return data


with socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=60) as server:
    if not receive(server, 32).startswith(b"Rsrv0103QAP1"):
        sys.exit("rserve.py: this is not Rserve")
    code = sys.argv[2].encode() + b"\0"
    code += b"\0" * (-len(code) % 4)
    server.sendall(struct.pack("<IIII", VOID_EVAL, len(code) + 4, 0, 0) + struct.pack("<I", STRING | len(code) << 8) + code)
    status, length, _, _ = struct.unpack("<IIII", receive(server, 16))
    receive(server, length)
    if status != OK:
        sys.exit(f"rserve.py: the server says {status:#x}")
