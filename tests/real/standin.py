"""Stand-ins for the programs of Artemis and Open Message Queue, which start at once and fail as a test asks.

They are called as the products are, log what the products log, speak STOMP, and keep queues: so much that what
drives the products can be tried. They say nothing about what the products do. Run as a program::

    standin.py artemis create|run|queue ...      standin.py imqbrokerd|imqcmd ...
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import socketserver
import sys
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import TextIO
from xml.etree import ElementTree

SPACE = "{urn:activemq:core}"


class Store:
    """Queues, kept in a file; their messages go to subscribers in turn, and come back unacknowledged."""

    def __init__(self, file: Path) -> None:
        self.lock, self.file = threading.RLock(), file
        self.waiting: dict[str, list[dict]] = {}
        self.held: dict[str, tuple[str, dict, object]] = {}
        self.subscribers: dict[str, list] = {}
        self.number = 0
        file.parent.mkdir(parents=True, exist_ok=True)
        for line in file.read_text().splitlines() if file.exists() else ():
            self.waiting = json.loads(line)

    def keep(self) -> None:
        """Write down what is not acknowledged."""
        queues = {name: list(messages) for name, messages in self.waiting.items()}
        for name, message, _ in self.held.values():
            queues.setdefault(name, []).append(message)
        kept = {
            name: [m for m in all_ if m["headers"].get("persistent") == "true"] for name, all_ in queues.items()
        }
        new = self.file.with_suffix(".new")  # a kill in the middle leaves the old one
        new.write_text(json.dumps(kept))
        new.replace(self.file)

    def depths(self) -> dict[str, int]:
        """Return queue -> messages."""
        found = {name: len(messages) for name, messages in self.waiting.items()}
        for name, _, _ in self.held.values():
            found[name] = found.get(name, 0) + 1
        return {name.removeprefix("/queue/"): count for name, count in found.items()}

    def send(self, name: str, message: dict) -> None:
        """Take a message."""
        with self.lock:
            if name.startswith("/topic/"):
                for one in self.subscribers.get(name, ()):
                    self.number += 1
                    one.give(f"m{self.number}", name, message)
                return
            self.waiting.setdefault(name, []).append(message)
            self.dispatch(name)
            self.keep()

    def dispatch(self, name: str) -> None:
        """Give what waits to the subscribers in turn."""
        subscribers = self.subscribers.get(name, [])
        while subscribers and self.waiting.get(name):
            self.number += 1
            message, one = self.waiting[name].pop(0), subscribers[0]
            subscribers.append(subscribers.pop(0))
            self.held[f"m{self.number}"] = (name, message, one)
            one.give(f"m{self.number}", name, message)

    def leave(self, one: object) -> None:
        """Forget a subscriber; what it has not acknowledged waits again."""
        with self.lock:
            for subscribers in self.subscribers.values():
                if one in subscribers:
                    subscribers.remove(one)
            for id_ in [id_ for id_, (_, _, holder) in self.held.items() if holder is one][::-1]:
                name, message, _ = self.held.pop(id_)
                self.waiting[name].insert(0, message)
            for name in list(self.waiting):
                self.dispatch(name)


class Connection(socketserver.StreamRequestHandler):
    """One STOMP connection."""

    store: Store

    def handle(self) -> None:
        """Answer frames until the client goes."""
        with contextlib.suppress(OSError):
            while (frame := self.frame()) is not None:
                command, headers, body = frame
                self.answer(command, headers, body)
                if "receipt" in headers:
                    self.write("RECEIPT", {"receipt-id": headers["receipt"]})
        self.store.leave(self)

    def frame(self) -> tuple[str, dict[str, str], str] | None:
        """Return the next frame."""
        text = b""
        while not text.endswith(b"\0"):
            byte = self.rfile.read(1)
            if not byte:
                return None
            text += byte
        head, _, body = text[:-1].decode().lstrip("\r\n").partition("\n\n")
        command, *lines = head.splitlines()
        return command, dict(reversed([line.split(":", 1) for line in lines])), body

    def answer(self, command: str, headers: dict[str, str], body: str) -> None:
        """Do what a frame asks for."""
        if command in ("CONNECT", "STOMP"):
            self.write("CONNECTED", {"version": "1.2"})
        elif command == "SUBSCRIBE":
            with self.store.lock:
                self.store.subscribers.setdefault(headers["destination"], []).append(self)
                self.store.dispatch(headers["destination"])
        elif command == "SEND":
            self.store.send(headers["destination"], {"headers": headers, "body": body})
        elif command == "ACK":
            with self.store.lock:
                self.store.held.pop(headers["id"], None)
                self.store.keep()

    def give(self, id_: str, name: str, message: dict) -> None:
        """Send a message to the client."""
        own = {
            key: value for key, value in message["headers"].items() if key not in ("receipt", "content-length")
        }
        more = {"message-id": id_, "ack": id_, "subscription": "0", "destination": name}
        self.write("MESSAGE", own | more, message["body"])

    def write(self, command: str, headers: dict[str, str], body: str = "") -> None:
        """Write one frame."""
        lines = "".join(f"{key}:{value}\n" for key, value in headers.items())
        with contextlib.suppress(OSError):
            self.wfile.write(f"{command}\n{lines}\n{body}\0".encode())


def say(text: str) -> None:
    """Log a line."""
    print(text, flush=True)


def serve(host: str, port: int, stomp: int, store: Store, ready: str) -> None:
    """Serve clients at one port and administrators at another, until killed."""

    class Depths(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(store.depths()).encode())

        def log_message(self, *args: object) -> None:
            pass

    socketserver.ThreadingTCPServer.daemon_threads = True
    handler = type("Here", (Connection,), {"store": store})
    server = socketserver.ThreadingTCPServer((host, stomp), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    asked = HTTPServer((host, port), Depths)
    say(ready)
    asked.serve_forever()


def asked(address: str) -> dict[str, int]:
    """Return what lies in the queues of a stand-in."""
    with urllib.request.urlopen(f"http://{address}/", timeout=25) as answer:
        return json.load(answer)


def artemis(words: list[str]) -> None:
    """Do as `artemis` does."""
    here = Path(sys.argv[0])
    if words[0] == "create":
        base = Path(words[-1])
        (base / "etc").mkdir(parents=True)
        (base / "bin").mkdir()
        (base / "etc" / "broker.xml").write_text("the product's own")
        (base / "log").mkdir()
        script = base / "bin" / "artemis"
        script.write_text(f'#!/bin/sh\nexec {sys.executable} {here} artemis "$@" --at {base}\n')
        script.chmod(0o755)
    elif words[0] == "run":
        live(Path(words[words.index("--at") + 1]))
    else:
        depths = asked(words[words.index("--url") + 1].partition("://")[2])
        say("Connection brokerURL = ...\n|NAME   |ADDRESS |CONSUMER_COUNT |MESSAGE_COUNT |")
        for name, count in depths.items():
            say(f"|{name:<7}|{name:<8}|0              |{count:<14}|")


def live(base: Path) -> None:
    """Be an Artemis broker: live, or a backup until the one that has the lock ends."""
    core = ElementTree.parse(base / "etc" / "broker.xml").getroot()[0]
    if core.findtext(f"{SPACE}name") == "refused":
        sys.exit("2026-11-22 ERROR [org.apache.activemq.artemis] AMQ224097: Failed to start server")
    journal = Path(core.findtext(f"{SPACE}journal-directory"))
    journal.mkdir(parents=True, exist_ok=True)
    ours, stomp = (acceptor.text.partition("://")[2] for acceptor in core.find(f"{SPACE}acceptors"))
    slave = core.find(f".//{SPACE}slave") is not None
    with (journal / "server.lock").open("w") as lock:
        if slave:
            while _is_free(lock):  # a live one comes first, however long it takes to begin
                time.sleep(0.05)
            say("INFO AMQ221031: backup announced")
        fcntl.flock(lock, fcntl.LOCK_EX)
        host, _, port = ours.partition(":")
        number = int(stomp.partition("?")[0].rpartition(":")[2])
        told = "AMQ221010: Backup Server is now live" if slave else "AMQ221007: Server is now live"
        serve(host, int(port), number, Store(journal / "queues"), f"INFO {told}")


def _is_free(lock: TextIO) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    fcntl.flock(lock, fcntl.LOCK_UN)
    return True


def imqbrokerd(words: list[str]) -> None:
    """Do as `imqbrokerd` does."""
    if "-version" in words:
        say("Open Message Queue 6.5.0\nVersion:  6.5.0  (Build 1-a)")
        return
    given = dict(word[2:].split("=", 1) for word in words if word.startswith("-Dimq"))
    port, base = int(words[words.index("-port") + 1]), Path(words[words.index("-varhome") + 1])
    host, stomp = given["imq.hostname"], int(given["imq.bridge.stomp.tcp.port"])
    ready = f'[B1039]: Broker "{words[words.index("-name") + 1]}@{host}:{port}" ready.'
    serve(host, port, stomp, Store(base / "queues"), ready)


def imqcmd(words: list[str]) -> None:
    """Do as `imqcmd` does; of its commands only ``query dst`` prints."""
    if words[:2] == ["query", "dst"]:
        name, depths = words[words.index("-n") + 1], asked(words[words.index("-b") + 1])
        if name in depths:
            say(f"Current Number of Messages\n    Actual    {depths[name]}\n    Remote    0")
        else:
            say(f"Could not locate destination {name}")


if __name__ == "__main__":
    {"artemis": artemis, "imqbrokerd": imqbrokerd, "imqcmd": imqcmd}[sys.argv[1]](sys.argv[2:])
