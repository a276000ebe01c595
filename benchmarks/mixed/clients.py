"""The clients of the mixed load, a file for Locust: readers, senders, live pages, agents and scripts.

mixed_load.py starts it in a process of its own, since gevent replaces the sockets of its process. Each request adds a
line of JSON to the file MIXED_OUTPUT: time, kind, path, milliseconds, status, and the hash of an accepted log.
"""

import hashlib
import json
import os
import random
import time
from pathlib import Path
from typing import Any

from locust import HttpUser, constant_throughput, task
from requests import Response
from requests.adapters import HTTPAdapter
from requests.exceptions import RequestException

PLAN: dict[str, Any] = json.loads(Path(os.environ["MIXED_PLAN"]).read_text())
OUTPUT = Path(os.environ["MIXED_OUTPUT"]).open("a", buffering=1)  # noqa: SIM115 - until the process ends
LOG = Path(PLAN["log"]).read_bytes()
FACTS = {"vendor": "Exemplar", "model": "EX4", "category": "nvme-flash", "slice_length_s": "10"}
PATIENCE_S, WAIT_S = 90, 50
RETRY_PAUSE_S = 1.0  # of clients that keep a connection, after an error
SEARCHES = ("/search/?q=ex4", "/search/?q=intel", "/sizing/", "/compare/")
API = ("/api/v1/runs/", "/api/v1/products/", "/api/v1/landscape/", "/api/v1/news/")


class _From(HTTPAdapter):
    """Connections from one of the addresses of this machine: the register limits each client by its address."""

    def __init__(self, address: str) -> None:
        self.address = address
        super().__init__()

    def init_poolmanager(self, *arguments: Any, **options: Any) -> Any:
        return super().init_poolmanager(*arguments, source_address=(self.address, 0), **options)


class Client(HttpUser):
    """A client with an address of its own."""

    abstract = True
    number = 0

    def on_start(self) -> None:
        type(self).number += 1
        self.number = type(self).number
        # Names of classes as a number: their addresses differ.
        network = sum(map(ord, type(self).__name__)) % 200 + 10
        self.client.mount("http://", _From(f"127.{network}.{self.number // 250}.{self.number % 250 + 1}"))
        self.client.trust_env = False

    def ask(self, kind: str, method: str, path: str, sha256: str = "", **options: Any) -> Response | None:
        """Send a request, and note its result; status 0 if there was no answer."""
        started, status, answer = time.time(), 0, None
        try:
            answer = self.client.request(method, path, timeout=PATIENCE_S, allow_redirects=False, **options)
            status = answer.status_code
        except RequestException:
            answer = None
        took_ms = 1000 * (time.time() - started)
        line = {"at": started, "kind": kind, "path": path, "ms": took_ms, "status": status}
        OUTPUT.write(json.dumps(line | ({"sha256": sha256} if sha256 else {})) + "\n")
        return answer


class Reader(Client):
    """A person who opens one page a second."""

    fixed_count = PLAN["page_views_per_s"]
    wait_time = constant_throughput(1)

    @task
    def open_page(self) -> None:
        path = random.choice(PLAN["pages"]) if random.random() < 0.9 else random.choice(SEARCHES)  # noqa: S311
        self.ask("page", "GET", path)


class Sender(Client):
    """A script that submits a log every other second."""

    fixed_count = 2 * PLAN["uploads_per_s"]
    wait_time = constant_throughput(0.5)

    @task
    def submit(self) -> None:
        content = LOG + f"{self.number} {time.time_ns()}\n".encode()
        token = random.choice(PLAN["tokens"])  # noqa: S311 - a token may send 60 logs a minute
        files, headers = {"log": ("load.log", content)}, {"Authorization": f"Bearer {token}"}
        digest = hashlib.sha256(content).hexdigest()
        self.ask("upload", "POST", "/api/v1/submissions/", digest, data=FACTS, files=files, headers=headers)


class LivePage(Client):
    """A page that follows a submission: an open stream of server-sent events."""

    fixed_count = PLAN["live_pages"]
    wait_time = constant_throughput(1)

    @task
    def follow(self) -> None:
        token, submission = PLAN["tokens"][self.number % len(PLAN["tokens"])], PLAN["submission"]
        headers = {"Authorization": f"Bearer {token}", "Accept": "text/event-stream"}
        path = f"{PLAN['live_url']}/api/v1/live/submissions/{submission}/"
        answer = self.ask("live", "GET", path, headers=headers, stream=True)
        if answer is None or answer.status_code != 200:
            time.sleep(RETRY_PAUSE_S)
            return
        try:
            for _ in answer.iter_lines():
                pass
        except RequestException:
            time.sleep(RETRY_PAUSE_S)


class Agent(Client):
    """An agent of a lab host: it waits for exchanges, and answers each request that it cannot do it."""

    fixed_count = len(PLAN["agents"])
    wait_time = constant_throughput(1)

    def on_start(self) -> None:
        super().on_start()
        secret = PLAN["agents"][(self.number - 1) % max(1, len(PLAN["agents"]))]
        self.headers, self.known = {"Authorization": f"Bearer {secret}"}, ""
        self.seen: set[str] = set()

    @task
    def wait(self) -> None:
        headers = self.headers | ({"If-None-Match": self.known} if self.known else {})
        path = f"{PLAN['live_url']}/api/v1/live/agents/exchanges/?wait={WAIT_S}"
        answer = self.ask("agent", "GET", path, headers=headers)
        if answer is None or answer.status_code not in {200, 304}:
            time.sleep(RETRY_PAUSE_S)
            return
        if answer.status_code == 200:
            self.known = answer.headers.get("ETag", "")
            for exchange in answer.json()["exchanges"]:
                if exchange["id"] not in self.seen:
                    self.seen.add(exchange["id"])
                    self._answer(exchange["id"])

    def _answer(self, exchange: str) -> None:
        error = {"bytes": 0, "error": {"kind": "unanswered", "sentence": "a simulated host has no drives"}}
        content = (json.dumps(error) + "\n").encode() * 4  # more responses than requests are allowed
        headers = self.headers | {"Content-Type": "application/octet-stream"}
        self.ask("answer", "PUT", f"/api/v1/agents/exchanges/{exchange}/", data=content, headers=headers)


class Script(Client):
    """A script that reads the API once a second."""

    fixed_count = PLAN["api_per_s"]
    wait_time = constant_throughput(1)

    @task
    def read(self) -> None:
        self.ask("api", "GET", random.choice(API))  # noqa: S311
