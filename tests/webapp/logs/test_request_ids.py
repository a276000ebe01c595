import logging
from ipaddress import ip_network

import pytest
from celery import shared_task
from django.http import HttpResponseNotFound
from django.test import Client
from django.urls import path

from results.logs.context import bound, log_ids
from webapp.celery import app
from webapp.logs import task_ids
from webapp.urls import handler500  # noqa: F401 - this module is a ROOT_URLCONF

SEEN: list[dict[str, str]] = []


def fail(_request):
    SEEN.append(dict(log_ids()))
    raise RuntimeError("broken")


def miss(_request):
    SEEN.append(dict(log_ids()))
    return HttpResponseNotFound()


urlpatterns = [path("fail/", fail), path("api/v1/fail/", fail), path("miss/", miss)]


@pytest.fixture(autouse=True)
def _routes(settings, monkeypatch):
    settings.ROOT_URLCONF = __name__
    SEEN.clear()


@pytest.fixture
def own_client(settings):
    """Return a client whose errors become responses, and whose peer is an own proxy."""
    settings.TRUSTED_PROXIES = [ip_network("10.0.0.0/8")]
    return Client(raise_request_exception=False, REMOTE_ADDR="10.1.2.3")


def test_the_page_of_an_error_shows_the_id_under_which_the_log_has_the_trace(own_client, caplog):
    logged = []
    caplog.handler.addFilter(lambda record: logged.append((dict(log_ids()), record.exc_info)) or True)
    response = own_client.get("/fail/")
    error_id = response.headers["X-Request-ID"]
    assert response.status_code == 500
    assert f"<code>{error_id}</code>" in response.content.decode()
    ((ids, trace),) = [each for each in logged if each[1]]
    assert ids == {"request": error_id}
    assert str(trace[1]) == "broken"
    assert log_ids() == {}


def test_the_api_states_the_id_of_an_error(own_client, caplog):
    caplog.set_level(logging.CRITICAL)
    response = own_client.get("/api/v1/fail/")
    problem = response.json()
    assert response.headers["Content-Type"] == "application/problem+json"
    assert (problem["status"], problem["error_id"]) == (500, response.headers["X-Request-ID"])
    assert problem["error_id"] in problem["detail"]


def test_each_request_has_an_id_of_its_own(own_client):
    ids = {own_client.get("/miss/").headers["X-Request-ID"] for _ in range(3)}
    assert len(ids) == 3
    assert {each["request"] for each in SEEN} == ids


def test_the_line_of_a_refused_request_has_its_id_and_is_written_once(own_client, caplog):
    logged = []
    caplog.handler.addFilter(lambda record: logged.append((record.getMessage(), dict(log_ids()))) or True)
    response = own_client.get("/miss/")
    assert logged == [("Not Found: /miss/", {"request": response.headers["X-Request-ID"]})]


@pytest.mark.parametrize(
    ("stated", "peer", "is_taken"),
    [
        ("abc-1234", "10.1.2.3", True),
        ("a" * 64, "10.1.2.3", True),
        ("a" * 65, "10.1.2.3", False),
        ("a" * 7, "10.1.2.3", False),
        ("abc 1234", "10.1.2.3", False),
        ("abcd1234\n", "10.1.2.3", False),
        ("abc-1234", "192.0.2.7", False),
        ("abc-1234", "", False),
    ],
)
def test_only_an_own_proxy_gives_an_id_and_only_in_a_safe_form(own_client, stated, peer, is_taken):
    response = own_client.get("/miss/", headers={"x-request-id": stated}, REMOTE_ADDR=peer)
    assert (response.headers["X-Request-ID"] == stated) == is_taken


@shared_task(name="tests.note_ids")
def note_ids():
    SEEN.append(dict(log_ids()))


def test_a_task_has_the_id_of_the_request_that_enqueued_it():
    headers = {}
    with bound(request="abc-1234", submission="s1"):
        task_ids.send_request_id(headers=headers)
    note_ids.apply(headers=headers)
    note_ids.apply()
    assert SEEN == [{"request": "abc-1234", "task": "tests.note_ids"}, {"task": "tests.note_ids"}]
    assert log_ids() == {}


def test_the_id_travels_in_the_message_to_the_broker(monkeypatch):
    sent = []
    with app.connection_for_write() as connection, bound(request="abc-1234"):
        queue = connection.SimpleQueue("nobody-reads-ids")
        app.send_task("tests.note_ids", queue="nobody-reads-ids", connection=connection)
        message = queue.get(timeout=5)
        sent.append(message.headers[task_ids.HEADER])
        message.ack()
        queue.close()
    assert sent == ["abc-1234"]
