"""An agent in Python, for tests of the register: it joins, waits for exchanges over HTTP, and answers them."""

import hashlib
import http.client
import json
import secrets
import threading
from base64 import b64decode
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

from runners.inventory.enrolment import own_program_sha256

AT_ONCE = 4
WAIT_S = 50


class StandInAgent:
    """An agent that gives the requests of each exchange to `serve` and sends back what that returns.

    `port` is that of the register, `live_port` that of its process of waiting clients.
    """

    def __init__(self, port: int, live_port: int, serve: Callable[[bytes], bytes]) -> None:
        self.port, self.live_port, self.serve = port, live_port, serve
        self.secret = secrets.token_hex(32)
        self.program_sha256 = own_program_sha256()
        self.polls: list[int] = []  # the status of each poll
        self.answers: list[int] = []  # the status of each answer
        self._seen: set[str] = set()
        self._waiting: http.client.HTTPConnection | None = None
        self._ended = threading.Event()

    @property
    def secret_sha256(self) -> str:
        """Return the hash that the register stores."""
        return hashlib.sha256(self.secret.encode()).hexdigest()

    def join(self, code: str) -> tuple[int, dict[str, str]]:
        """Join with a code. Return the status and the document of the response."""
        stated = {"code": code, "secret_sha256": self.secret_sha256}
        stated |= {"program_sha256": self.program_sha256, "version": "0.0.0"}
        headers = {"Content-Type": "application/json"}
        status, content = self._send("POST", "/api/v1/agents/", json.dumps(stated).encode(), headers)
        return status, json.loads(content)

    def exchanges(self) -> tuple[int, dict[str, Any]]:
        """Return the exchanges that wait now."""
        status, content = self._send("GET", "/api/v1/agents/exchanges/", None, self._authorization)
        return status, json.loads(content)

    def answer(self, exchange: str, content: bytes) -> int:
        """Answer an exchange, and return the status of the response."""
        headers = self._authorization | {"Content-Type": "application/octet-stream"}
        status, _ = self._send("PUT", f"/api/v1/agents/exchanges/{exchange}/", content, headers)
        self.answers.append(status)
        return status

    @contextmanager
    def running(self) -> Iterator["StandInAgent"]:
        """Wait for exchanges and answer them until the end of the block, or until the register revokes it."""
        thread = threading.Thread(target=self._run)
        thread.start()
        try:
            yield self
        finally:
            self._ended.set()
            if self._waiting is not None and self._waiting.sock is not None:
                self._waiting.sock.shutdown(2)  # ends a poll that waits
            thread.join()

    def _run(self) -> None:
        known = ""
        with ThreadPoolExecutor(AT_ONCE) as pool:
            while not self._ended.is_set():
                try:
                    status, etag, content = self.poll(known)
                except (OSError, http.client.HTTPException):
                    if self._ended.is_set():
                        return
                    raise
                self.polls.append(status)
                if status == 401:
                    return
                if status == 200:
                    known = etag
                    for each in json.loads(content)["exchanges"]:
                        if each["id"] not in self._seen:
                            self._seen.add(each["id"])
                            pool.submit(self._serve, each["id"], b64decode(each["requests"]))

    def _serve(self, exchange: str, requests: bytes) -> None:
        self.answer(exchange, self.serve(requests))

    def poll(self, known: str, wait_s: int = WAIT_S) -> tuple[int, str, bytes]:
        """Wait for exchanges, unless the list has one that is not in the list with the ETag `known`."""
        connection = http.client.HTTPConnection("127.0.0.1", self.live_port, timeout=WAIT_S + 10)
        connection.connect()
        self._waiting = connection
        headers = self._authorization | ({"If-None-Match": known} if known else {})
        path = f"/api/v1/live/agents/exchanges/?wait={wait_s}"
        try:
            connection.request("GET", path, headers=headers | {"Host": "localhost"})
            response = connection.getresponse()
            return response.status, response.headers.get("ETag", ""), response.read()
        finally:
            connection.close()

    @property
    def _authorization(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.secret}"}

    def _send(self, method: str, path: str, body: bytes | None, headers: dict[str, str]) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        try:
            connection.request(method, path, body, headers | {"Host": "localhost"})
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()
