"""The migration of steps reads the texts of earlier releases once, and changes no reason."""

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from runners.models import Dispatch, Step
from runners.models.dispatch import new_dispatch_id
from runners.models.states import State

RUNNING, LOST = State.RUNNING, State.LOST
CASES = [
    ((RUNNING, LOST), "no answer since 2026-05-01 10:00:00 UTC: lab-1: no answer within 30 s", "transition", {}),
    ((RUNNING, RUNNING), "a cancel was asked for", "cancel-requested", {}),
    (
        (RUNNING, RUNNING),
        "a cancel was asked for: wrong drive: sorry",
        "cancel-requested",
        {"reason": "wrong drive: sorry"},
    ),
    ((RUNNING, RUNNING), "no answer from lab-1 for 12 s, since 10:00:00 UTC; it answers again", "host-outage", {}),
    ((RUNNING, RUNNING), "1,237 gaps, 4,000 s in all", "outage-total", {}),
    (
        (RUNNING, RUNNING),
        "telemetry of the drive beside run-a-t004 on lab-1 ended by an I/O error; run-a-t004 goes on without",
        "telemetry-ended",
        {"stage": "run-a-t004"},
    ),
    ((LOST, LOST), "nothing of it runs: seen on the console", "declared-ended", {"reason": "seen on the console"}),
    ((RUNNING, RUNNING), "a text of no release", "other", {}),
]

WAITS = [
    ("", ""),
    ("the register stumbled, trying again: KeyError: 'x'", ""),
    ("drive busy with d-one; waiting until it has ended", "drive"),
    ("drive busy: campaign k-one has it; waiting until that has ended", "drive"),
    ("lab-1 gets no work: it has not been checked yet", "host"),
    ("host busy with d-one; waiting until it has ended", "host"),
    ("campaign k-one is paused; waiting until it goes on", "campaign"),
]


def queue_copy(dispatch, reason):
    """Queue a dispatch like another one, and return its key."""
    copy = Dispatch.objects.get(pk=dispatch.pk)
    copy.pk, copy.public_id, copy.state, copy.reason = None, new_dispatch_id(), State.QUEUED, reason
    copy.save()
    return copy.pk


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_every_text_of_earlier_releases_becomes_a_code(in_state):
    dispatch = in_state(RUNNING)
    queued = [queue_copy(dispatch, reason) for reason, _ in WAITS]
    for (from_state, to_state), reason, _, _ in CASES:
        Step.objects.create(dispatch=dispatch, from_state=from_state, to_state=to_state, actor="worker", reason=reason)
    first = dispatch.steps.count() - len(CASES)
    newest = MigrationExecutor(connection).loader.graph.leaf_nodes()
    MigrationExecutor(connection).migrate([("runners", "0016_retired")])
    MigrationExecutor(connection).migrate(newest)
    migrated = list(dispatch.steps.order_by("pk").values_list("reason", "kind", "details"))[first:]
    assert migrated == [(reason, kind, details) for _, reason, kind, details in CASES]
    found = [Dispatch.objects.values_list("reason", "waits_for").get(pk=pk) for pk in queued]
    assert found == WAITS
    with pytest.raises(Exception, match="append-only"):
        dispatch.steps.update(reason="changed")
