"""A running register for agents: a web server and the process of waiting clients."""

import pytest

from tests.web_server import web_server


@pytest.fixture(scope="module")
def register(tmp_path_factory, django_db_setup):
    """Return the ports of a register and of its process of waiting clients."""
    web_dir, live_dir = tmp_path_factory.mktemp("web"), tmp_path_factory.mktemp("live")
    with (
        web_server(live_dir, "webapp.asgi:application", interface="asgi") as waiting,
        web_server(web_dir, LIVE_URL=f"http://127.0.0.1:{waiting.port}") as web,
    ):
        yield web.port, waiting.port
