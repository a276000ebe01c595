"""Results in the list of dispatches."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from runners.models import Dispatch
from tests.runners.campaigns.lab import end, read_as

pytestmark = pytest.mark.django_db


def found(client):
    return [(word, is_fail) for _, word, is_fail in client.get("/lab/").context["dispatches"]]


@pytest.mark.parametrize(
    ("over_ratio", "outcome", "word", "is_fail"),
    [
        ("2", "fail", "fails", True),
        ("0.5", "pass", "passes", False),
        ("2", "undecided", "over a limit", True),
        ("1", "undecided", "within the limits", False),
        ("0.5", "void", "void", False),
    ],
)
def test_the_list_shows_the_result_of_a_read_run(lab_client, dispatch, over_ratio, outcome, word, is_fail):
    read_as(dispatch, over_ratio, outcome)
    assert found(lab_client) == [(word, is_fail)]
    mark = f'done: <span class="fail">{word}</span>' if is_fail else f"done: <span>{word}</span>"
    assert mark in lab_client.get("/lab/").text


@pytest.mark.parametrize(("outcome", "shown"), [("fail", '<span class="fail">fails</span>'), ("pass", "<b>passes</b>")])
def test_the_dispatch_page_shows_the_result_with_a_link_to_the_run(lab_client, dispatch, outcome, shown):
    address = f"/lab/dispatches/{dispatch.public_id}/"
    assert "Result:" not in lab_client.get(address).text
    run = read_as(dispatch, "2", outcome).public_id
    assert f'Result: {shown}, <a href="/runs/{run}/">run {run}</a>.</p>' in lab_client.get(address).text


def test_an_overload_is_shown_without_a_run(lab_client, dispatch):
    end(dispatch, exit_status=4)
    assert found(lab_client) == [("cannot keep up", True)]


@pytest.mark.parametrize("state", ["queued", "running", "failed", "cancelled"])
def test_an_unread_log_has_no_result(lab_client, dispatch, state):
    end(dispatch, state)
    assert found(lab_client) == [("", False)]


def test_a_stress_test_is_compared_with_no_limit(lab_client, dispatch):
    read_as(dispatch, "2", "fail")
    Dispatch.objects.update(purpose="stress")
    assert found(lab_client) == [("ran to completion", False)]


def test_the_list_needs_as_many_queries_for_many_read_runs_as_for_one(lab_client, new_dispatch):
    read_as(new_dispatch(), "2", "fail")
    with CaptureQueriesContext(connection) as one:
        lab_client.get("/lab/")
    for _ in range(9):
        read_as(new_dispatch(), "2", "fail")
    with CaptureQueriesContext(connection) as ten:
        lab_client.get("/lab/")
    assert len(ten) == len(one)
