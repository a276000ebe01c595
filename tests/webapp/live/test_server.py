"""Waiting clients of the API: they get the next state of a dispatch, a campaign or a submission when it changes."""

import json

import pytest
from django.db import connection
from django.utils import timezone

from runners.models.states import State
from tests.results.builders import send
from tests.webapp.live.conftest import Request, change, listeners, note_poll

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]


def test_the_present_state_is_returned_at_once_to_a_client_that_knows_none(live, dispatch, client, token):
    status, headers, body = live.get(f"lab/dispatches/{dispatch.public_id}/").response()
    same = client.get(f"/api/v1/lab/dispatches/{dispatch.public_id}/", headers={"Authorization": f"Bearer {token[1]}"})
    assert (status, body, headers["etag"]) == (200, same.text, same.headers["ETag"])


def test_a_client_that_knows_the_state_gets_the_next_one(live, dispatch):
    path = f"lab/dispatches/{dispatch.public_id}/"
    etag = live.etag(path)
    waiting = live.get(f"{path}?wait=60", If_None_Match=etag)
    live.wait_for_clients(1)
    change(dispatch, log_bytes=7)
    status, headers, body = waiting.response()
    assert (status, json.loads(body)["progress"]["log_bytes"]) == (200, 7)
    assert headers["etag"] != etag


@pytest.mark.parametrize("known", ["{etag}", '"other", W/{etag}'])
def test_a_client_gets_304_if_nothing_but_the_time_of_the_poll_changes(live, dispatch, known):
    path = f"lab/dispatches/{dispatch.public_id}/"
    etag = live.etag(path)
    waiting = live.get(f"{path}?wait=2", If_None_Match=known.format(etag=etag.removeprefix("W/")))
    live.wait_for_clients(1)
    note_poll(dispatch)
    status, headers, body = waiting.response()
    assert (status, headers["etag"], body) == (304, etag, "")


def test_a_submission_is_awaited_until_its_reading_changes(live, a_lab, token):
    submission = send(a_lab, b"no log of any tool", token[0].user)
    path = f"submissions/{submission.public_id}/"
    waiting = live.get(f"{path}?wait=60", If_None_Match=live.etag(path))
    live.wait_for_clients(1)
    submission.log.readings.update(state="reading")
    status, _, body = waiting.response()
    assert (status, json.loads(body)["state"]) == (200, "reading")


def test_a_stream_has_each_state_and_ends_when_its_token_is_revoked(live, dispatch, token):
    stream = live.get(f"lab/dispatches/{dispatch.public_id}/", Accept="text/event-stream")
    assert "content-type: text/event-stream" in stream.until("event: state")
    change(dispatch, log_bytes=7)
    stream.until('"log_bytes":7')
    token[0].revoked_at = timezone.now()
    token[0].save()
    change(dispatch, log_bytes=8)
    _, _, events = stream.response()
    assert events.count("event: state") == 2
    assert "event: problem" in events
    assert '"log_bytes":8' not in events


def test_a_stream_goes_on_after_the_last_event_of_its_client(live, dispatch):
    path = f"lab/dispatches/{dispatch.public_id}/"
    stream = live.get(path, Accept="text/event-stream", Last_Event_ID=live.etag(path))
    stream.until(": waiting")
    change(dispatch, state=State.RUNNING)
    assert stream.until("event: state").count("event: state") == 1
    assert '"state":"running"' in stream.until("}\n\n")


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("{path}?wait=61", 400, "expected seconds from 0 to 60, got 61"),
        ("{path}?wait=x", 400, "got x"),
        ("{path}?wait=1&wait=2", 400, "got 1,2"),
        ("{path}?colour=red", 400, "colour"),
        ("lab/dispatches/d-22222222/", 404, "No Dispatch"),
        ("lab/hosts/", 404, "lab/dispatches/<id>/"),
        ("runs/r-22222222/", 404, "Expected"),
    ],
)
def test_a_request_without_a_resource_to_wait_for_is_refused(live, dispatch, path, status, words):
    response = live.get(path.format(path=f"lab/dispatches/{dispatch.public_id}/"), If_None_Match='"x"').response()
    assert response[0] == status
    assert response[1]["content-type"] == "application/problem+json"
    assert words in response[2]


def test_a_client_without_a_token_or_with_another_method_does_not_wait(live, dispatch):
    path = f"/api/v1/live/lab/dispatches/{dispatch.public_id}/"
    assert Request(live.server, path).response()[0] == 401
    status, headers, _ = Request(live.server, path, "DELETE").response()
    assert (status, headers["allow"]) == (405, "GET")


def test_a_change_is_noticed_after_the_connection_to_the_database_was_lost(live, dispatch):
    path = f"lab/dispatches/{dispatch.public_id}/"
    waiting = live.get(f"{path}?wait=60", If_None_Match=live.etag(path))
    live.wait_for_clients(1)
    with connection.cursor() as cursor:
        for pid in listeners():
            cursor.execute("SELECT pg_terminate_backend(%s)", [pid])
    change(dispatch, log_bytes=7)
    assert waiting.response()[0] == 200


def test_many_clients_hold_no_connection_to_the_database_and_one_token_has_a_limit(live, dispatch, a_lab, token):
    path = f"lab/dispatches/{dispatch.public_id}/"
    etag = live.etag(path)
    waiting = [live.get(f"{path}?wait=60", If_None_Match=etag) for _ in range(100)]
    live.wait_for_clients(100)
    status, headers, body = live.get(f"{path}?wait=60", If_None_Match=etag).response()
    assert (status, headers["retry-after"]) == (429, "10")
    assert "at most 100" in body
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
        assert cursor.fetchone()[0] <= 1 + 1 + 4  # of this test, the listener, and the threads
    change(dispatch, log_bytes=7)
    assert {request.response()[0] for request in waiting} == {200}
