"""A stand-in for the management of brokers: plays what real ones answered, and what stands in its way."""

from __future__ import annotations

import base64
import copy
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.conftest import packed
from tests.products.activemq.running import PASSWORD, USER

TOKEN = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
PAGE = b"<html><head><title>Sign in to Example</title></head><body>Who are you?</body></html>"


def recorded(name: str) -> dict:
    """Return what a real broker answered: its `answers` by kind, its `xml`."""
    return copy.deepcopy(packed("running")[f"running/{name}.json"])


class Jolokia:
    """The management of a broker on this machine, within a with; `mode` says what stands in its way."""

    def __init__(self, answers: dict, mode: str = "", host: str = "127.0.0.1", port: int = 0) -> None:
        self.answers, self.mode, self.host = answers, mode, host
        self.seen: list[dict] = []  # what it was asked, each a question
        self.origins: list[str] = []
        self.paths: list[str] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                outer.answer(self)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer((host, port), Handler)
        self.port = self.server.server_port

    def __enter__(self) -> Jolokia:
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()

    def address(self, user: str = f"{USER}:s3cret%2Fword%40home@", path: str = "/api/jolokia") -> str:
        """Return the address, with user and password."""
        return f"jolokia:http://{user}{self.host}:{self.port}{path}"

    def answer(self, request: BaseHTTPRequestHandler) -> None:
        """Answer a bulk request, or do what the mode says."""
        length = int(request.headers["Content-Length"])
        questions = json.loads(request.rfile.read(length))
        self.seen += questions
        self.origins.append(request.headers.get("Origin"))
        self.paths.append(request.path)
        if self.mode == "page":
            return self.say(request, 200, PAGE, "text/html")
        if self.mode == "moved":
            return self.say(
                request, 302, b"", "text/html", Location="http://login.example.com/sign-in?to=jolokia"
            )
        if self.mode == "ends":
            request.send_response(200)
            request.send_header("Content-Length", "100000")
            request.end_headers()
            request.wfile.write(b'[{"status": 200, "val')
            return None  # and the connection closes
        if not request.path.startswith("/api/jolokia"):
            return self.say(request, 404, b"no such page", "text/plain")
        if self.mode == "forbidden":
            return self.say(request, 403, b"", "text/html")
        if request.headers.get("Authorization") != TOKEN:
            return self.say(request, 401, b"<html>Unauthorized</html>", "text/html")
        if self.mode == "strict" and request.headers.get("Origin") != "http://localhost":
            told = {
                "status": 403,
                "error": "java.lang.Exception : Origin null is not allowed to call this agent",
            }
            return self.say(request, 200, json.dumps(told).encode(), "text/plain")
        found = [self.one(question) for question in questions]
        return self.say(request, 200, json.dumps(found).encode(), "text/plain")

    def one(self, question: dict) -> dict:
        """Return the answer to one question: the attributes that it names."""
        if question["type"] == "search":  # brokers of a product
            domain = question["mbean"].partition(":")[0] + ":"
            known = self.answers.get("brokers", {}).get("value", ())
            return {"status": 200, "value": [name for name in known if name.startswith(domain)]}
        for answer in (one for one in self.answers.values() if isinstance(one, dict)):
            if sorted(answer["request"]["mbean"].split(",")) == _sorted(question["mbean"]):
                value = {
                    name: {key: bean[key] for key in question["attribute"] if key in bean}
                    for name, bean in answer.get("value", {}).items()
                }
                return {"status": 200, "value": value} if value else {"status": 404, "error": "no such MBean"}
        return {"status": 404, "error": "no such MBean"}

    def say(self, request: BaseHTTPRequestHandler, status: int, body: bytes, kind: str, **headers: str) -> None:
        """Send an answer."""
        request.send_response(status)
        for key, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
            request.send_header(key, value)
        request.end_headers()
        request.wfile.write(body)


def _sorted(mbean: str) -> list[str]:
    domain, _, rest = mbean.partition(":")
    first, *more = sorted(rest.split(","))
    return sorted([f"{domain}:{first}", *more])
