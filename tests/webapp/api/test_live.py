"""Requests of waiting clients that reach a web server: it names the process that serves them."""

import pytest

pytestmark = pytest.mark.django_db
PATH = "/api/v1/live/lab/dispatches/d-22222222/?wait=5"


def test_a_web_server_sends_a_waiting_client_to_its_process(client, settings):
    settings.LIVE_URL = "https://live.example"
    response = client.get(PATH)
    assert (response.status_code, response.headers["Location"]) == (307, f"https://live.example{PATH}")


def test_a_register_without_the_process_says_so(client, settings):
    settings.LIVE_URL = ""
    response = client.get(PATH)
    assert (response.status_code, response.json()["code"]) == (404, "no-live-process")


def test_an_unknown_parameter_is_refused(client, settings):
    settings.LIVE_URL = "https://live.example"
    assert client.get(f"{PATH}&colour=red").status_code == 400
