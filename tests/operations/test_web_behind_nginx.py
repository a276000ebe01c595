"""The web server of a register in production, behind nginx."""

import pytest

from tests.operations.nginx import NAME, Nginx, needs_nginx
from tests.web_server import web_server

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("nginx"), needs_nginx]

PRODUCTION = {
    "PRODUCTION": "yes",
    "BEHIND_TLS_PROXY": "yes",
    "TRUSTED_PROXIES": "127.0.0.1",
    "ALLOWED_HOSTS": NAME,
    "SECRET_KEY": "0f9a6b3c5d7e8120f4a9b6c3d5e7f801",
    "ENCRYPTION_KEYS": "1f9a6b3c5d7e8120f4a9b6c3d5e7f802",
}


@pytest.mark.django_db(transaction=True)
def test_the_web_server_behind_nginx_serves_pages_over_tls_only(tmp_path):
    with web_server(tmp_path, **PRODUCTION) as server:
        proxy = Nginx(tmp_path / "nginx")
        proxy.write(server.port, server.port)
        with proxy.running():
            # The register would redirect what it takes for http: nginx states the scheme, and not the client.
            status, headers, text = proxy.get("/about/", Host=NAME, **{"X-Forwarded-Proto": "http"})
            assert (status, "<h1" in text) == (200, True)
            assert headers["Strict-Transport-Security"] == "max-age=31536000"
            assert proxy.get("/about/", Host="evil.example")[0] == 400
            assert proxy.get("/about/", over_tls=False, Host=NAME)[0] == 308
