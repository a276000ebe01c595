"""A certificate by ACME: certbot of Debian, pebble as the authority, and the command and hook of the runbook."""

import json
import os
import re
import shutil
import socket
import ssl
import subprocess
from contextlib import ExitStack

import pytest
from django.conf import settings

from scripts.runbooks.commands import read_commands
from tests.operations.nginx import NAME, Nginx, needs_nginx
from tests.register import free_port, wait_for

PROGRAMS = ("pebble", "pebble-challtestsrv", "certbot")
LACKING = [name for name in PROGRAMS if shutil.which(name) is None]
pytestmark = [
    pytest.mark.long,
    pytest.mark.xdist_group("nginx"),
    needs_nginx,
    pytest.mark.skipif(bool(LACKING), reason=f"run tests/operations/install_acme.sh: no {', '.join(LACKING)}"),
    pytest.mark.skipif(os.geteuid() != 0, reason="the hook gives the certificate to another account, which needs root"),
]
RUNBOOK = settings.BASE_DIR / "docs/how-to/deploy-with-systemd.md"
# What is another place here than on the machine of an operator.
RELOAD = "systemctl reload drivecert-nginx.service"


@pytest.fixture
def proxy(tmp_path):
    """nginx with the configuration of the runbook; its workers may enter the directory of the test."""
    proxy = Nginx(tmp_path)
    proxy.write(1, 2)
    with proxy.running():
        yield proxy


@pytest.fixture
def authority(tmp_path, proxy):
    """The directory of an authority that finds each name on this machine, on the port of nginx."""
    dns, https = free_port(), free_port()
    key, certificate = tmp_path / "authority.key", tmp_path / "authority.pem"
    command = [
        "openssl",
        "req",
        "-x509",
        "-newkey",
        "ec",
        "-pkeyopt",
        "ec_paramgen_curve:P-256",
        "-nodes",
        "-days",
        "2",
    ]
    command += ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    subprocess.run([*command, "-keyout", key, "-out", certificate], check=True, capture_output=True, timeout=30)
    config = {"listenAddress": f"127.0.0.1:{https}", "certificate": str(certificate), "privateKey": str(key),
              "httpPort": proxy.http, "tlsPort": proxy.https}  # fmt: skip
    (tmp_path / "pebble.json").write_text(json.dumps({"pebble": config}))
    names = ["pebble-challtestsrv", "-dns01", f"127.0.0.1:{dns}", "-http01", "", "-https01", "", "-tlsalpn01", "",
             "-management", f"127.0.0.1:{free_port()}", "-defaultIPv6", ""]  # fmt: skip
    pebble = ["pebble", "-config", str(tmp_path / "pebble.json"), "-dnsserver", f"127.0.0.1:{dns}"]
    environment = os.environ | {"PEBBLE_VA_NOSLEEP": "1", "PEBBLE_WFE_NONCEREJECT": "0"}
    with ExitStack() as stack, (tmp_path / "authority.log").open("wb") as log:
        for command in (names, pebble):
            process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
            stack.callback(process.wait, 30)
            stack.callback(process.terminate)
        wait_for(lambda: _listens(https), (tmp_path / "authority.log").read_text, 30)
        yield f"https://localhost:{https}/dir", certificate


def _listens(port):
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def served(proxy):
    """Return the certificate that TLS serves, as its bytes."""
    return ssl.get_server_certificate(("127.0.0.1", proxy.https))


def test_the_command_of_the_runbook_gets_a_certificate_and_the_hook_lets_nginx_serve_it(tmp_path, proxy, authority):
    directory, certificate = authority
    first = served(proxy)
    (command,) = [each.text for each in read_commands(RUNBOOK, {}) if each.text.startswith("certbot")]
    pid = (tmp_path / "tmp/nginx.pid").read_text().strip()
    command = command.replace("/etc/drivecert/certificates", str(tmp_path / "certificates"))
    assert RELOAD in command
    command = command.replace(RELOAD, f"kill -HUP {pid}")
    places = " ".join(f"--{name}-dir {tmp_path / name}" for name in ("config", "work", "logs"))
    environment = os.environ | {"REQUESTS_CA_BUNDLE": str(certificate)}

    def certbot(arguments):
        line = f"{arguments} {places} --server {directory}"
        done = subprocess.run(
            ["sh", "-c", line], env=environment, capture_output=True, text=True, check=False, timeout=120
        )
        assert done.returncode == 0, done.stdout + done.stderr

    certbot(command)
    installed = (tmp_path / "certificates/fullchain.pem").read_text()
    assert installed == (tmp_path / f"config/live/{NAME}/fullchain.pem").read_text()
    wait_for(lambda: served(proxy) != first, (tmp_path / "output").read_text, 30)
    assert served(proxy).strip() == re.match(r"(?s).*?-----END CERTIFICATE-----", installed)[0]
    assert (tmp_path / "certificates/privkey.pem").stat().st_mode & 0o777 == 0o400

    second = served(proxy)
    certbot("certbot renew --force-renewal --no-random-sleep-on-renew")  # as Debian's timer, with the hook of before
    wait_for(lambda: served(proxy) not in {first, second}, (tmp_path / "output").read_text, 30)
