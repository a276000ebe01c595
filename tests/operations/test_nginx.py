"""The configuration of nginx: valid, and in front of a server that states what it received."""

import json
import os
import re
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

import pytest
from django.conf import settings

from tests.operations.nginx import NAME, SOURCE, Nginx, needs_nginx
from tests.register import wait_for

pytestmark = [pytest.mark.xdist_group("nginx"), needs_nginx]

UNIT_BYTES = {"m": 1024**2}


class Upstream(BaseHTTPRequestHandler):
    """A server behind nginx. It returns the headers that it received; `/api/v1/live/` sends a part and waits."""

    protocol_version = "HTTP/1.1"
    first_part_arrived = Event()
    body_started = Event()

    def do_GET(self):
        if self.path.startswith("/api/v1/live/"):
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.write(b"7\r\nwaiting\r\n")
            assert self.first_part_arrived.wait(30)
            self.wfile.write(b"5\r\n done\r\n0\r\n\r\n")
            return
        self.answer(json.dumps(dict(self.headers.items())))

    def do_PATCH(self):
        self.body_started.set()
        self.answer(str(len(self.rfile.read(int(self.headers["Content-Length"])))))

    def do_POST(self):
        self.do_PATCH()

    def answer(self, text):
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_args):
        pass


@pytest.fixture(scope="module")
def nginx(tmp_path_factory):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Upstream)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    proxy = Nginx(tmp_path_factory.mktemp("nginx"))
    proxy.write(server.server_port, server.server_port)
    try:
        with proxy.running():
            yield proxy
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_the_configuration_is_valid(nginx):
    done = nginx.check()
    assert (done.returncode, "test is successful" in done.stderr) == (0, True), done.stderr
    assert "[warn]" not in re.sub(r".*\"user\" directive.*", "", done.stderr)


def test_a_mistake_in_the_configuration_is_found(tmp_path):
    broken = Nginx(tmp_path)
    broken.write(1, 2, server_tokens="server_token")
    assert broken.check().returncode == 1


def test_headers_of_the_client_do_not_arrive(nginx):
    """A client can state neither its address, nor its scheme, nor the id of its request."""
    stated = {"X-Forwarded-For": "192.0.2.1", "X-Forwarded-Proto": "http", "X-Forwarded-Host": "evil.example",
              "Forwarded": "for=192.0.2.1", "X_Forwarded_For": "192.0.2.1", "Host": NAME,
              "X-Request-ID": "of-another-request"}  # fmt: skip
    status, _, text = nginx.get("/", **stated)
    received = {name.lower(): value for name, value in json.loads(text).items()}
    assert status == 200
    assert (received["x-forwarded-for"], received["x-forwarded-proto"], received["host"]) == (
        "127.0.0.1",
        "https",
        NAME,
    )
    assert not received.keys() & {"x-forwarded-host", "forwarded", "x_forwarded_for"}
    assert re.fullmatch("[0-9a-f]{32}", received["x-request-id"])
    assert f' {received["x-request-id"]} "GET / HTTP/1.1" 200 ' in logged(nginx, received["x-request-id"])


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("/accounts/invitation/THEKEY/", "/accounts/invitation/..."),
        ("/accounts/password/reset/key/1a-THEKEY/", "/accounts/password/reset/key/..."),
        ("/accounts/password/reset/k%65y/1a-THEKEY/", "/accounts/password/reset/key/..."),
        ("/accounts/confirm-email/THEKEY/", "/accounts/confirm-email/..."),
        ("/mail/17/THEKEY/", "/mail/17/..."),
        ("/runs/?key=THEKEY", "/runs/"),
        ("/accounts/invitation/", "/accounts/invitation/"),
    ],
)
def test_the_log_has_no_keys(nginx, path, shown):
    received = json.loads(nginx.get(path)[2])
    line = logged(nginx, received["X-Request-ID"])
    assert f'"GET {shown} HTTP/1.1"' in line
    assert "THEKEY" not in line


def logged(nginx, request_id):
    """Return the line of the access log for a request; nginx writes it after the response."""
    log = nginx.directory / "access.log"
    wait_for(lambda: request_id in log.read_text(), log.read_text, 30)
    return next(line for line in log.read_text().splitlines() if request_id in line)


def test_http_is_redirected_except_the_challenges_of_acme(nginx):
    (nginx.directory / "certificates/challenges/.well-known/acme-challenge").mkdir(parents=True)
    (nginx.directory / "certificates/challenges/.well-known/acme-challenge/token").write_text("key")
    status, headers, _ = nginx.get("/runs/?a=b", over_tls=False, Host=NAME)
    assert (status, headers["Location"]) == (308, f"https://{NAME}/runs/?a=b")
    status, _, text = nginx.get("/.well-known/acme-challenge/token", over_tls=False)
    assert (status, text) == (200, "key")


def test_old_versions_of_tls_are_refused(nginx):
    offered = ["openssl", "s_client", "-connect", f"127.0.0.1:{nginx.https}", "-cipher", "DEFAULT@SECLEVEL=0"]
    old, new = (
        subprocess.run([*offered, version], input=b"", capture_output=True, check=False, timeout=30)
        for version in ("-tls1_1", "-tls1_2")
    )
    assert (old.returncode == 0, new.returncode == 0) == (False, True)


def test_a_body_beyond_the_limit_is_refused_before_it_is_sent(nginx):
    """The limit fits the register's own: the register answers about files, nginx about everything larger."""
    limit = body_limit((nginx.directory / "tmp/limits.conf").read_text())
    assert settings.UPLOAD_MAX_BYTES < limit < settings.UPLOAD_MAX_BYTES + 100 * 1024**2
    with nginx.context().wrap_socket(socket.create_connection(("127.0.0.1", nginx.https), timeout=30)) as client:
        client.sendall(f"POST /submit/ HTTP/1.1\r\nHost: {NAME}\r\nContent-Length: {limit + 1}\r\n\r\n".encode())
        assert client.recv(100).startswith(b"HTTP/1.1 413 ")


@pytest.mark.parametrize("upload_max_bytes", [1, 1024**2, 10 * 1024**2 + 1, 2 * 1024**3, 50 * 1024**3])
def test_the_limit_of_nginx_follows_that_of_the_register(tmp_path, upload_max_bytes):
    proxy = Nginx(tmp_path)
    (tmp_path / "tmp").mkdir()
    room = body_limit(proxy.write_limits(upload_max_bytes)) - upload_max_bytes
    assert 52 * 1024**2 <= room < 53 * 1024**2


@pytest.mark.parametrize(("stated", "status", "written"), [
    ("", 0, "client_max_body_size 2100m;\n"), ("2 GiB", 1, None), ("-1", 1, None),
])  # fmt: skip
def test_the_limit_without_a_setting_is_that_of_its_default_and_no_other_text_is_taken(
    tmp_path, stated, status, written
):
    path, environment = tmp_path / "limits.conf", os.environ | {"UPLOAD_MAX_BYTES": stated}
    done = subprocess.run([SOURCE / "write_limits.sh", path], env=environment, capture_output=True, check=False)
    assert (done.returncode, path.read_text() if path.exists() else None) == (status, written)
    assert (b"expected a whole number" in done.stderr) is bool(status)


@pytest.mark.parametrize(("settings_file", "limit"), [
    ("PRODUCTION=yes\nUPLOAD_MAX_BYTES=1048577\n", "54m"), ('UPLOAD_MAX_BYTES="1"\n', "53m"), ("", "2100m"),
])  # fmt: skip
def test_on_a_host_the_limit_is_read_from_the_settings_of_the_register(tmp_path, settings_file, limit):
    path, stated = tmp_path / "limits.conf", tmp_path / "register.env"
    stated.write_text(settings_file)
    subprocess.run([SOURCE / "write_limits.sh", path, stated], check=True)
    assert (path.read_text(), path.stat().st_mode & 0o004) == (f"client_max_body_size {limit};\n", 0o004)


def body_limit(text):
    """Return the largest body that a configuration allows, in bytes."""
    number, unit = re.search(r"client_max_body_size (\d+)(\w);", text).groups()
    return int(number) * UNIT_BYTES[unit]


def test_a_long_poll_passes_unbuffered(nginx):
    with nginx.context().wrap_socket(socket.create_connection(("127.0.0.1", nginx.https), timeout=30)) as client:
        client.sendall(f"GET /api/v1/live/x/ HTTP/1.1\r\nHost: {NAME}\r\n\r\n".encode())
        received = b""
        while b"waiting" not in received:
            received += client.recv(1000)
        assert b"done" not in received
        Upstream.first_part_arrived.set()
        while b"done" not in received:
            received += client.recv(1000)


@pytest.mark.parametrize(("path", "is_streamed"), [("/uploads/x/", True), ("/submit/", False)])
def test_only_pieces_of_uploads_arrive_while_they_are_sent(nginx, path, is_streamed):
    Upstream.body_started.clear()
    method = "PATCH" if is_streamed else "POST"
    with nginx.context().wrap_socket(socket.create_connection(("127.0.0.1", nginx.https), timeout=30)) as client:
        client.sendall(
            f"{method} {path} HTTP/1.1\r\nHost: {NAME}\r\nContent-Length: 20000\r\n\r\n{'x' * 10_000}".encode()
        )
        if is_streamed:
            assert Upstream.body_started.wait(30)
        else:
            nginx.get("/")  # a later request was answered meanwhile
            assert not Upstream.body_started.is_set()
        client.sendall(b"x" * 10_000)
        assert client.recv(100).startswith(b"HTTP/1.1 200 ")


def test_too_many_requests_get_429_with_the_time_to_wait(nginx):
    """Last: it uses up the rate of this address. The page of signing in has a rate of its own."""
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: nginx.get("/accounts/login/"), range(40)))
    refused = [headers for status, headers, _ in answers if status == 429]
    assert 10 <= len(refused) <= 20
    assert {headers["Retry-After"] for headers in refused} == {"2"}
    assert nginx.get("/about/")[0] == 200


def test_the_configuration_for_a_machine_has_its_ports_and_folders(tmp_path):
    subprocess.run([SOURCE / "install_on_host.sh", tmp_path], check=True, timeout=30)
    installed = {path.name: path.read_text() for path in (tmp_path / "etc/drivecert/nginx").iterdir()}
    assert set(installed) == {"nginx.conf", "register.conf", "servers.conf"}
    assert re.findall(r"listen ([^;]+);", installed["register.conf"]) == [
        f"{address}{port}"
        for port in ("80 default_server", "443 ssl http2 default_server")
        for address in ("", "[::]:")
    ]
    text = "\n".join(line for whole in installed.values() for line in whole.splitlines() if not line.startswith("#"))
    assert not re.search(r"/dev/stdout|/var/spool|/etc/nginx/register| /certificates|8080|8443", text)
    unit = (settings.BASE_DIR / "operations/systemd/drivecert-nginx.service").read_text()
    assert "/etc/drivecert/nginx/nginx.conf" in unit
    assert "CacheDirectory=drivecert-nginx" in unit
    limits = "/var/cache/drivecert-nginx/limits.conf"
    assert f"include {limits};" in installed["nginx.conf"]
    assert f"ExecStartPre=+/srv/drivecert/operations/nginx/write_limits.sh {limits} /etc/drivecert/register.env" in unit
