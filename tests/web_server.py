"""The register's web server, granian, on the database and the broker of a test."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.conf import settings
from django.db import connection

from results.evidence.directory import Directory
from tests.register import ROOT, free_port, wait_for

PATIENCE_S = 60


class WebServer:
    """A running web server. A test speaks to it through sockets of its own, so that it may be a slow client."""

    def __init__(self, port: int, process: "subprocess.Popen[bytes]") -> None:
        self.port, self.process = port, process

    def connect(self) -> socket.socket:
        """Return a connection to the server."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S)

    def status_of(self, request: bytes) -> str:
        """Send a complete request on a connection of its own, and return the first line of the answer."""
        with self.connect() as client:
            client.sendall(request)
            return read_until(client, "\r\n").partition("\r\n")[0]

    def is_listening(self) -> bool:
        """Return whether the server accepts connections."""
        try:
            with self.connect():
                return True
        except ConnectionRefusedError:
            return False


def read_until(client: socket.socket, text: str) -> str:
    """Return what the server sends, as soon as it has the text."""
    received = ""
    while text not in received:
        chunk = client.recv(64 * 1024)
        assert chunk, f"expected {text!r}, got {received!r} and the end of the connection"
        received += chunk.decode()
    return received


@contextmanager
def web_server(
    directory: Path,
    application: str = "webapp.wsgi:application",
    threads: int = 8,
    interface: str = "wsgi",
    **variables: str,
) -> Iterator[WebServer]:
    """Run the server with one process; `variables` are settings. Its temporary files are in `directory`."""
    Directory(directory / "var/evidence").prepare()
    database, port = connection.settings_dict, free_port()
    url = f"postgresql://{database['USER']}:{database['PASSWORD']}@/{database['NAME']}?host={database['HOST']}"
    own = {"DATABASE_URL": url, "REDIS_URL": settings.REDIS_URL, "DJANGO_SETTINGS_MODULE": "webapp.settings"}
    own |= {"DRIVECERT_DATA": str(directory / "var"), "TMPDIR": str(directory)} | variables
    command = [sys.executable, "-m", "granian", f"--interface={interface}", "--host=127.0.0.1", f"--port={port}"]
    command += [f"--blocking-threads={threads}"] if interface == "wsgi" else []
    command += ["--workers-kill-timeout=1", application]
    with (directory / "web.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=ROOT, env=os.environ | own, stdout=log, stderr=log)
    try:
        server = WebServer(port, process)
        wait_for(server.is_listening, (directory / "web.log").read_text, PATIENCE_S)
        yield server
    finally:
        process.terminate()
        process.wait(PATIENCE_S)
