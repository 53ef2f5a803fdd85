# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
"""Clients as a server fears them.

usage: http_abuse.py HOST:PORT HOW   the exit status says whether all went as it should; what did not is printed
"""
import socket
import struct
import sys
import time

host, port = sys.argv[1].rsplit(":", 1)
WAIT = 60  # seconds until something has hung


def connect():
    s = socket.create_connection((host, int(port)), WAIT)
    s.settimeout(WAIT)
    return s


def request(path="/metrics", more=""):
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n{more}\r\n".encode()


def read_all(s):
    data = b""
    try:
        while chunk := s.recv(65536):
            data += chunk
    except ConnectionError:
        pass
    return data


def status(data):
    return int(data.split(b" ", 2)[1]) if data.startswith(b"HTTP/1.1 ") else 0


def get(path="/metrics", more=""):
    s = connect()
    s.sendall(request(path, more + "Connection: close\r\n"))
    data = read_all(s)
    s.close()
    return status(data), data


def served(what):
    """Any client gets an answer: at once, or when slower clients are dropped."""
    for _ in range(3):
        code, data = get()
        if code == 200 and b"\nxrprof_build_info{" in data:
            return
    sys.exit(f"{what}: a request is answered with {code}, {len(data)} bytes")


def send_until_closed(s, chunk, limit):
    """Until the server closes or takes no more."""
    sent = 0
    try:
        while sent < limit:
            sent += s.send(chunk)
    except (ConnectionError, socket.timeout):
        return
    sys.exit(f"{limit} bytes were taken, and more would be")


def slow():
    clients, asked = [connect() for _ in range(100)], request(more="X: " + "y" * 100 + "\r\n")
    for i in range(60):
        for k, s in enumerate(clients):
            try:
                s.send(asked[i:i + 1])
            except ConnectionError:
                s.close()
                clients[k] = connect()
        if i % 10 == 0:
            served("100 slow clients")


def many():
    clients = []
    for i in range(1000):
        clients.append(connect())
        if i % 250 == 0:
            served(f"{i} clients")
    served("1000 clients")
    for s in clients:
        s.close()
    served("after 1000 clients")


def pipelined():
    n = 500
    s = connect()
    s.sendall(request("/healthz") * (n - 1) + request("/healthz", "Connection: close\r\n"))
    data = read_all(s)
    if data.count(b"HTTP/1.1 200 ") != n:
        sys.exit(f"{n} requests in one go: {data.count(b'HTTP/1.1 ')} answers")
    s = connect()
    s.sendall(request("/debug/pprof/profile?seconds=1") + request("/healthz", "Connection: close\r\n"))
    data = read_all(s)
    if data.count(b"HTTP/1.1 200 ") != 2 or b"ppp" not in data or not data.endswith(b"ok\n"):
        sys.exit(f"behind a profile: {data[-200:]}")


def half_closed():
    """Clients that send nothing more read their answers."""
    for path in "/metrics", "/healthz":
        s = connect()
        s.sendall(request(path, "Connection: close\r\n"))
        s.shutdown(socket.SHUT_WR)
        data = read_all(s)
        if status(data) != 200:
            sys.exit(f"{path}: {data[:60]}")


def unread():
    """A client that takes no answers: the server reads no more than it can answer."""
    s = connect()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65536)
    s.settimeout(3)
    send_until_closed(s, request() * 1000, 64 << 20)
    served("one that takes no answers")
    s.close()


def peers():
    """20 clients from one address of another machine, of which 16 may be."""
    clients = [connect() for _ in range(20)]
    closed = 0
    for s in clients[::-1]:
        s.settimeout(WAIT if closed < 4 else 0.2)
        try:
            closed += not s.recv(1)
        except ConnectionError:
            closed += 1
        except socket.timeout:
            pass
    if closed != 4:
        sys.exit(f"{closed} of 20 are closed, not 4")


def headers():
    for head, codes in ((b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nX: ", (431,)),
                        (b"GET /", (414, 431)),
                        (b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n", (431,))):
        s = connect()
        s.sendall(head)
        many_lines = head.endswith(b"\r\n")
        send_until_closed(s, b"X: y\r\n" * 100 if many_lines else b"a" * 1000, 8 << 20)
        s.close()
        s = connect()
        s.sendall(head + (b"X: y\r\n" * 4000 if many_lines else b"a" * 20000))
        data = read_all(s)
        # what was sent on breaks the connection, and its answer may be lost with it
        if data and status(data) not in codes:
            sys.exit(f"{head[:10]}...: {data[:60]}")
    s = connect()
    s.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 16384)
    data = read_all(s)
    if status(data) != 431:
        sys.exit(f"16 KiB of a header: {data[:60]}")
    served("after huge headers")


def bodies():
    for head, code in (("POST /metrics HTTP/1.1\r\nContent-Length: 1000000000", 405),
                       ("GET /metrics HTTP/1.1\r\nContent-Length: 1000000000", 413),
                       ("GET /metrics HTTP/1.1\r\nTransfer-Encoding: chunked", 413),
                       ("PUT /metrics HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 10", 405),
                       ("GET /metrics HTTP/1.1\r\nContent-Length: 1x", 400),
                       ("GET /metrics HTTP/1.1\r\nContent-Length: -1", 400),
                       ("GET /healthz HTTP/1.1\r\nConnection: close\r\nhost: 127.0.0.1", 400)):  # the second Host
        s = connect()
        s.sendall(f"{head}\r\nHost: localhost\r\n\r\n".encode())
        data = read_all(s)
        if status(data) != code:
            sys.exit(f"{head!r}: {data[:60]}, not {code}")
    served("after bodies")


def profile_until(wanted):
    """The first answer with that status: when all places are taken, or one of them is free again."""
    end = time.monotonic() + WAIT
    while time.monotonic() < end:
        code, data = get("/debug/pprof/profile?seconds=1")
        if code == wanted:
            return data
        time.sleep(0.05)
    sys.exit(f"a profile is answered with {code}, not {wanted}")


def gone():
    """Clients that go away while a profile is taken: closed, reset, and with a request behind it."""
    asked = request("/debug/pprof/profile?seconds=599")
    for i in range(3):
        clients = [connect() for _ in range(4)]
        for s in clients:
            s.sendall(asked + (request() if i == 2 else b""))
            if i == 1:
                s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        if b"\r\nRetry-After: " not in profile_until(503):
            sys.exit("a profile too many has no Retry-After")
        for s in clients:
            s.close()
        profile_until(200)


globals()[sys.argv[2]]()
