"""Answers every name with its own address, takes whatever comes there, and writes both down.

    python3 -I sinkhole.py LOG

A JSON object a line, each with ``kind``: ``name`` (``name``, ``type``) for a question, ``knock``
(``port``, ``said``) for a connection, ``unread`` (``what``) for what is no question. Prints a line
when it listens, and goes on until it is killed. ``tests/containers/_quiet/seen.py`` knows the
address too.
"""

import json
import socket
import struct
import sys
import threading

ADDRESS = "127.53.53.53"
DNS, HTTP, TLS = 53, 80, 443
A = 1
TYPES = {A: "A", 2: "NS", 5: "CNAME", 6: "SOA", 12: "PTR", 15: "MX", 16: "TXT", 28: "AAAA"}
TYPES |= {33: "SRV", 64: "SVCB", 65: "HTTPS", 255: "ANY"}
HEADER = struct.Struct("!6H")
PATIENCE_S = 2.0
"""How long a caller may take to say something."""
MOST_BYTES = 4096
NOTHING = b"HTTP/1.1 204 No Content\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class Log:
    """Lines of a file, from many threads."""

    def __init__(self, path: str) -> None:
        self._file = open(path, "w", encoding="ascii")  # noqa: SIM115, PTH123
        self._lock = threading.Lock()

    def write(self, **fields: object) -> None:
        """One line, at once."""
        with self._lock:
            self._file.write(json.dumps(fields) + "\n")
            self._file.flush()


def question(packet: bytes) -> tuple[str, int, int]:
    """Name and type that a packet asks for, and where its question ends.

    Raises:
        ValueError: it asks for no one name.
    """
    try:
        _, flags, questions, *_ = HEADER.unpack_from(packet)
        if flags & 0x8000 or questions != 1:
            raise ValueError("not one question")
        labels, at = [], HEADER.size
        while length := packet[at]:
            if length > 63 or at + 1 + length > len(packet):
                raise ValueError("not a label")
            labels.append(packet[at + 1 : at + 1 + length].decode("latin-1"))
            at += 1 + length
        kind, _ = struct.unpack_from("!HH", packet, at + 1)
    except (struct.error, IndexError) as error:
        raise ValueError(str(error)) from error
    return ".".join(labels), kind, at + 5


def answer(packet: bytes) -> tuple[str, int, bytes]:
    """Name and type of a question, and the reply to it: this address for whoever asks for one of
    IPv4, and no such record for any other type."""
    name, kind, end = question(packet)
    number, flags = struct.unpack_from("!HH", packet)
    header = struct.pack("!HH4H", number, 0x8080 | flags & 0x0100, 1, int(kind == A), 0, 0)
    reply = header + packet[HEADER.size : end]
    if kind == A:
        own = "127.0.0.1" if name.rstrip(".").lower() == "localhost" else ADDRESS
        reply += struct.pack("!HHHIH", 0xC00C, A, 1, 1, 4) + socket.inet_aton(own)
    return name, kind, reply


def answer_all(server: socket.socket, log: Log) -> None:
    """Answer questions for ever."""
    while True:
        packet, whom = server.recvfrom(MOST_BYTES)
        try:
            name, kind, reply = answer(packet)
        except ValueError:
            log.write(kind="unread", what=packet[:64].hex())
            continue
        log.write(kind="name", name=name, type=TYPES.get(kind, str(kind)))
        server.sendto(reply, whom)


def take_all(server: socket.socket, port: int, log: Log) -> None:
    """Take connections for ever."""
    while True:
        connection, _ = server.accept()
        threading.Thread(target=take, args=(connection, port, log), daemon=True).start()


def take(connection: socket.socket, port: int, log: Log) -> None:
    """Hear what one caller has to say."""
    said = b""
    with connection:
        connection.settimeout(PATIENCE_S)
        try:
            said = connection.recv(MOST_BYTES)
            if port == HTTP:
                connection.sendall(NOTHING)
        except OSError:
            pass  # the caller went away, or says nothing
        log.write(kind="knock", port=port, said=words(port, said))


def words(port: int, said: bytes) -> str:
    """What a caller said first, as text."""
    if port == TLS and (name := server_name(said)):
        return f"a greeting of TLS to {name}"
    return said[:300].decode("latin-1")


def server_name(hello: bytes) -> str:
    """The name in a client's greeting of TLS; empty where there is none."""
    try:
        at = 5 + 4 + 2 + 32  # record, handshake, version, random
        at += 1 + hello[at]
        at += 2 + int.from_bytes(hello[at : at + 2], "big")
        at += 1 + hello[at]
        end = at + 2 + int.from_bytes(hello[at : at + 2], "big")
        at += 2
        while at < min(end, len(hello)):
            kind, size = struct.unpack_from("!HH", hello, at)
            if kind == 0:
                return hello[at + 9 : at + 4 + size].decode("ascii")
            at += 4 + size
    except (IndexError, struct.error, UnicodeDecodeError):
        pass
    return ""


def main() -> None:
    """Listen, say so, and go on."""
    log = Log(sys.argv[1])
    names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    names.bind((ADDRESS, DNS))
    threading.Thread(target=answer_all, args=(names, log), daemon=True).start()
    for port in (DNS, HTTP, TLS):
        server = socket.create_server((ADDRESS, port))
        threading.Thread(target=take_all, args=(server, port, log), daemon=True).start()
    print("listening", flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
