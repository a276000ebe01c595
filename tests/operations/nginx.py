"""A real nginx with the configuration of operations/nginx, in a directory of a test and on free ports."""

import os
import shutil
import ssl
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import Message
from pathlib import Path

import pytest
from django.conf import settings

from tests.register import free_port, wait_for

SOURCE = settings.BASE_DIR / "operations" / "nginx"
PROGRAM = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin")
NAME = "register.example.org"
PATIENCE_S = 30
# Started by root, nginx would switch to an account that cannot enter the directory of a test.
AS_ROOT = "user root;" if os.geteuid() == 0 else ""


def missing_nginx() -> str:
    """Return why this machine cannot run these tests; empty if it can."""
    if PROGRAM is None or shutil.which("openssl") is None:
        return "nginx or openssl is missing: run tests/operations/install_nginx.sh as root"
    return ""


needs_nginx = pytest.mark.skipif(bool(missing_nginx()), reason=missing_nginx() or "nginx is installed")


class Nginx:
    """nginx in front of two servers. `write` places its files; places and ports are the only differences."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.http, self.https = free_port(), free_port()
        self.main = directory / "nginx.conf"
        self.certificate = directory / "certificates/fullchain.pem"

    def write(self, web_port: int, live_port: int, **changed: str) -> None:
        """Write the configuration, its limits and a certificate. `changed` replaces values of directives."""
        for name in ("spool", "certificates/challenges", "tmp"):
            (self.directory / name).mkdir(parents=True, exist_ok=True)
        places = {
            " /tmp/": f" {self.directory}/tmp/",  # first: the directory of the test may be below /tmp
            "/etc/nginx/register/": f"{self.directory}/", "/var/spool/nginx/": f"{self.directory}/spool/",
            "/certificates/": f"{self.directory}/certificates/",
            "/dev/stdout": f"{self.directory}/access.log",
            "[::]:": "[::1]:", ":8080": f":{self.http}", ":8443": f":{self.https}",
            "listen 8080": f"listen 127.0.0.1:{self.http}", "listen 8443": f"listen 127.0.0.1:{self.https}",
            "127.0.0.1:8000": f"127.0.0.1:{web_port}", "127.0.0.1:8001": f"127.0.0.1:{live_port}",
        } | changed  # fmt: skip
        for source, name in (("nginx", "nginx"), ("register", "register"), ("servers.host", "servers")):
            text = (SOURCE / f"{source}.conf").read_text()
            for ours, here in places.items():
                text = text.replace(ours, here)
            (self.directory / f"{name}.conf").write_text(text)
        self.write_limits(settings.UPLOAD_MAX_BYTES)
        self._write_certificate()

    def write_limits(self, upload_max_bytes: int) -> str:
        """Write the limits for a register with this UPLOAD_MAX_BYTES, as before a start, and return them."""
        path = self.directory / "tmp/limits.conf"
        environment = os.environ | {"UPLOAD_MAX_BYTES": str(upload_max_bytes)}
        subprocess.run([SOURCE / "write_limits.sh", path], env=environment, check=True, timeout=PATIENCE_S)
        return path.read_text()

    def check(self) -> "subprocess.CompletedProcess[str]":
        """Run `nginx -t` on the configuration."""
        return subprocess.run(self._command("-t"), capture_output=True, text=True, check=False, timeout=PATIENCE_S)

    def get(self, path: str, *, over_tls: bool = True, **headers: str) -> tuple[int, Message, str]:
        """Return status, headers and text of a page. No redirect is followed."""
        place = f"https://127.0.0.1:{self.https}" if over_tls else f"http://127.0.0.1:{self.http}"
        request = urllib.request.Request(f"{place}{path}", headers=headers)  # noqa: S310 - an address of this test
        opener = urllib.request.build_opener(urllib.request.HTTPSHandler(context=self.context()), _NoRedirects())
        try:
            with opener.open(request, timeout=PATIENCE_S) as answer:
                return answer.status, answer.headers, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers, error.read().decode()

    def context(self) -> ssl.SSLContext:
        """Return a context that trusts only the certificate of the test."""
        context = ssl.create_default_context(cafile=str(self.certificate))
        context.check_hostname = False
        return context

    @contextmanager
    def running(self) -> Iterator["Nginx"]:
        """Run it until the end of the block."""
        with (self.directory / "output").open("wb") as output:
            process = subprocess.Popen(self._command("-g", f"daemon off; {AS_ROOT}"), stdout=output, stderr=output)
        try:
            wait_for(self._is_alive, (self.directory / "output").read_text, PATIENCE_S)
            yield self
        finally:
            process.terminate()
            process.wait(PATIENCE_S)

    def _command(self, *options: str) -> list[str]:
        return [str(PROGRAM), "-p", str(self.directory), "-c", str(self.main), "-e", str(self.directory / "error.log"),
                *options]  # fmt: skip

    def _is_alive(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.http}/nginx-alive", timeout=5) as answer:
                return bool(answer.status == 204)
        except OSError:
            return False

    def _write_certificate(self) -> None:
        folder = self.directory / "certificates"
        command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        command += ["-keyout", str(folder / "privkey.pem"), "-out", str(self.certificate)]
        command += ["-subj", f"/CN={NAME}", "-addext", f"subjectAltName=DNS:{NAME}", "-days", "2"]
        command += ["-addext", "basicConstraints=critical,CA:FALSE"]  # or drivetest takes it for an authority's own
        subprocess.run(command, check=True, capture_output=True, timeout=PATIENCE_S)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_args: object) -> None:
        return None
