"""Waiting clients of the lab get what is recorded in other rows than those of the dispatch or the campaign."""

import json
from functools import partial

import pytest
from django.utils import timezone

from runners.dispatch.orders import order, order_of
from runners.models import Step
from tests.runners.campaigns.lab import (
    add_submission,
    begin,
    campaign,
    fake_prep,
    new_campaign,
    newest,
    poll_campaign,
    prepare,
)
from tests.runners.lab import add_outage

__all__ = ["campaign", "fake_prep", "new_campaign"]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]
WAIT_S, LIMIT_S = 60, 45  # the state is also read at the end of the wait: a notification is much earlier


@pytest.fixture
def next_state(live):
    """Return a function that makes a change while a client waits, and returns the state that the client gets."""

    def wait_for(path, make_change):
        waiting = live.get(f"{path}?wait={WAIT_S}", If_None_Match=live.etag(path))
        waiting.socket.settimeout(LIMIT_S)
        live.wait_for_clients(1)
        for _ in range(3):  # by then the first client has read the state, so that only a notification wakes it
            live.etag(path)
        make_change()
        status, _, body = waiting.response()
        assert status == 200
        return json.loads(body)

    return wait_for


def path_of(dispatch):
    return f"lab/dispatches/{dispatch.public_id}/"


def test_an_outage_of_the_host_is_noticed_at_its_begin_and_at_its_end(next_state, dispatch):
    opened = next_state(path_of(dispatch), lambda: add_outage(dispatch, timezone.now()))
    assert [(each["cause"], each["until"]) for each in opened["outages"]] == [("no-answer", None)]
    closed = next_state(path_of(dispatch), lambda: dispatch.outages.update(until=timezone.now(), is_answered=True))
    assert closed["outages"][0]["is_answered"] is True


def test_an_outage_is_noticed_by_each_dispatch_that_it_affects(next_state, dispatch, new_dispatch):
    other = new_dispatch()
    outage = add_outage(other, timezone.now())
    assert next_state(path_of(dispatch), lambda: outage.dispatches.add(dispatch))["outages"] != []
    shown = next_state(path_of(other), lambda: dispatch.outages.update(until=timezone.now()))
    assert shown["outages"][0]["until"] is not None


def test_a_line_of_the_history_is_noticed_although_the_dispatch_stays_as_it_is(next_state, dispatch):
    line = {"kind": Step.Kind.TELEMETRY_ENDED, "from_state": dispatch.state, "to_state": dispatch.state}
    shown = next_state(path_of(dispatch), lambda: dispatch.steps.create(**line, actor="worker", reason="no space"))
    assert [(each["kind"], each["reason"]) for each in shown["steps"]] == [("telemetry-ended", "no space")]


def test_the_end_of_a_stage_and_a_retry_are_noticed(next_state, dispatch, staff):
    shown = next_state(path_of(dispatch), lambda: dispatch.stage_ends.create(ordinal=0, name="load", exit_status=0))
    assert [each["name"] for each in shown["stages"]] == ["load"]
    again = partial(order, dispatch.device, dispatch.organisation, order_of(dispatch), staff, retry_of=dispatch)
    assert next_state(path_of(dispatch), again)["retry"] is not None


def test_a_step_of_a_campaign_and_the_reading_of_its_log_are_noticed(next_state, campaign):
    path = f"lab/campaigns/{campaign.public_id}/"
    poll_campaign(campaign)
    prepare(newest(campaign))
    ordered = next_state(path, lambda: poll_campaign(campaign))
    load = newest(campaign)
    assert [each["dispatch"] for each in ordered["loads"]][-1] == load.public_id
    begin(load)
    readings = add_submission(load, "pending").log.readings
    unread = next_state(path, lambda: readings.update(state="failed"))
    assert unread["loads"][-1]["result"] == "unusable"
