"""A running register for agents: a web server and the process of waiting clients."""

import pytest

from tests.web_server import web_server


@pytest.fixture(scope="module")
def register(tmp_path_factory, django_db_setup):
    """Return the ports of a register and of its process of waiting clients."""
    web_dir, live_dir = tmp_path_factory.mktemp("web"), tmp_path_factory.mktemp("live")
    live = web_server(live_dir, "webapp.asgi:application", interface="asgi")
    with web_server(web_dir) as web, live as waiting:
        yield web.port, waiting.port
