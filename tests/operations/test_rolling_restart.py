"""The web servers of a register in production are replaced one after the other, behind nginx and under load."""

import base64
import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from http import HTTPStatus
from http.client import HTTPSConnection
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection

from results.evidence.directory import Directory
from results.models import Evidence
from tests.operations.nginx import NAME, PATIENCE_S, Nginx, needs_nginx
from tests.operations.test_web_behind_nginx import PRODUCTION
from tests.register import ROOT, free_port, parent_of, wait_for
from tests.results.builders import make_organisation, make_user, sha256
from webapp.accounts.tokens.rules import issue_token
from webapp.deployment import servers
from webapp.supervisor.address import Address

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("nginx"), needs_nginx]

PIECES, PIECE_BYTES = 4, 256 * 1024
WAIT_S = 120  # for an answer: a busy machine starts and serves slowly
PAUSE_S = 0.2  # of each client: the limits of nginx and of tokens are not met
BOUNDARY = "the-boundary-of-a-form"


class Load:
    """Clients that send one request after the other until the end. `failed` has each answer that was not expected."""

    def __init__(self, proxy, secret):
        self.proxy, self.secret, self.is_over = proxy, secret, threading.Event()
        self.counts, self.failed, self.sent = dict.fromkeys(("pages", "forms", "pieces"), 0), [], []

    @contextmanager
    def running(self):
        clients = (self._open_pages, self._open_pages, self._send_forms, self._send_pieces)
        threads = [threading.Thread(target=self._repeat, args=(client, n)) for n, client in enumerate(clients)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self.is_over.set()
            for thread in threads:
                thread.join(WAIT_S)

    def _repeat(self, client, thread):
        number = 0
        while not self.is_over.is_set():
            try:
                client(f"{thread}-{number}")
            except (OSError, AssertionError) as error:
                self.failed.append(repr(error))
            number += 1
            self.is_over.wait(PAUSE_S)

    def ask(self, method, path, expected, body=b"", **headers):
        connection = HTTPSConnection("127.0.0.1", self.proxy.https, timeout=WAIT_S, context=self.proxy.context())
        try:
            known = {"Host": NAME, "Authorization": f"Bearer {self.secret}"}
            connection.request(method, path, body, known | {name.replace("_", "-"): v for name, v in headers.items()})
            answer = connection.getresponse()
            text = answer.read()
        finally:
            connection.close()
        assert answer.status == expected, f"{method} {path}: {answer.status} {text[:200]!r}"
        return answer.headers

    def _open_pages(self, _):
        self.ask("GET", "/about/", HTTPStatus.OK)
        self.counts["pages"] += 1

    def _send_forms(self, number):
        log = f"a log {number}\n".encode()
        head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="log"; filename="load.log"\r\n\r\n'
        body = head.encode() + log + f"\r\n--{BOUNDARY}--\r\n".encode()
        kind = f"multipart/form-data; boundary={BOUNDARY}"
        self.ask("POST", "/api/v1/submissions/", HTTPStatus.CREATED, body, Content_Type=kind)
        self.sent.append(log)
        self.counts["forms"] += 1

    def _send_pieces(self, number):
        """Send a file by tus, and end its draft, so that the limits on drafts are not met."""
        pairs = {"filename": "load.log", "slice_length_s": "10"}
        values = ",".join(f"{key} {base64.b64encode(value.encode()).decode()}" for key, value in pairs.items())
        tus = {"Tus_Resumable": "1.0.0"}
        size = str(PIECES * PIECE_BYTES)
        made = self.ask("POST", "/uploads/", HTTPStatus.CREATED, Upload_Length=size, Upload_Metadata=values, **tus)
        path = made["Location"].removeprefix(f"https://{NAME}")
        for piece in range(PIECES):
            content = (number.encode() + b"\n") * PIECE_BYTES
            offset = {"Upload_Offset": str(piece * PIECE_BYTES), "Content_Type": "application/offset+octet-stream"}
            self.ask("PATCH", path, HTTPStatus.NO_CONTENT, content[:PIECE_BYTES], **offset, **tus)
            self.counts["pieces"] += 1
        self.ask("DELETE", path, HTTPStatus.NO_CONTENT, **tus)


@contextmanager
def web_service(directory, port):
    """Run the web server as its service does, on the database of the test, with two processes."""
    database = connection.settings_dict
    url = f"postgresql://{database['USER']}:{database['PASSWORD']}@/{database['NAME']}?host={database['HOST']}"
    own = {"DATABASE_URL": url, "REDIS_URL": settings.REDIS_URL, "DRIVECERT_DATA": str(directory / "var")}
    own |= {"DJANGO_SETTINGS_MODULE": "webapp.settings", "TMPDIR": str(directory)} | PRODUCTION
    Directory(directory / "var/evidence").prepare()
    with (directory / "web.log").open("wb") as log:
        command = servers.command_of(servers.WEB, Address("127.0.0.1", port))
        process = subprocess.Popen(command, cwd=ROOT, env=os.environ | own, stdout=log, stderr=log)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


def children(process):
    """Return the processes that serve requests."""
    return {int(path.name) for path in Path("/proc").glob("[0-9]*") if parent_of(path) == process.pid}


def start_s():
    """Return how long a process takes to import the application on this machine now."""
    started = time.monotonic()
    own = os.environ | {"DJANGO_SETTINGS_MODULE": "webapp.settings"}
    subprocess.run([sys.executable, "-c", "import webapp.wsgi"], cwd=ROOT, env=own, check=True)
    return time.monotonic() - started


@pytest.mark.django_db(transaction=True)
def test_no_request_fails_while_the_web_servers_are_replaced(tmp_path, settings, monkeypatch):
    monkeypatch.setattr(servers, "RESPAWN_INTERVAL_S", 2 + 2 * start_s())  # 10 s in a service: longer than a start
    settings.WEB_PROCESSES = 2
    exemplar = make_organisation("exemplar")
    _, secret = issue_token(make_user("vera", exemplar), exemplar, "script")
    port, proxy = free_port(), Nginx(tmp_path / "nginx")
    proxy.write(port, port)
    load = Load(proxy, secret)
    with web_service(tmp_path, port) as web, proxy.running():

        def output():
            return (tmp_path / "web.log").read_text()

        wait_for(lambda: proxy.get("/about/", Host=NAME)[0] == HTTPStatus.OK, output)
        before = children(web)
        with load.running():
            web.send_signal(signal.SIGHUP)
            wait_for(lambda: not before & children(web), output)
        assert len(children(web)) == len(before) == 2
    assert load.failed == []
    assert all(count > 0 for count in load.counts.values()), json.dumps(load.counts)
    kept = set(Evidence.objects.values_list("sha256", flat=True))
    assert {sha256(log) for log in load.sent} <= kept
