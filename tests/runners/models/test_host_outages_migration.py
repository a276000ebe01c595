"""The migration of outages carries over every outage that earlier releases stored, and back."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from runners.models import Dispatch, HostOutage
from runners.models.states import State
from tests.runners.models.test_step_kinds_migration import queue_copy

BEFORE = [("runners", "0019_campaign_entry_labels")]
MIDNIGHT = datetime(2026, 11, 20, tzinfo=UTC)
LINES = [
    # the outage began on the day before its line
    (MIDNIGHT + timedelta(seconds=5), "no answer from local for 12 s, since 23:59:53 UTC; it answers again"),
    (MIDNIGHT + timedelta(hours=1), "no answer from local for 3.1 s, since 00:59:57 UTC; it answers again"),
    (
        MIDNIGHT + timedelta(days=2, hours=3),  # the outage lasted for more than a day
        "no answer from gone for 174,600 s, since 02:30:00 UTC; it had not answered when this ended",
    ),
]


def store_as_before(executor, columns, lines=()):
    """Store columns and lines of the history as release 0.2 did; return the state of the apps."""
    executor.migrate(BEFORE)
    old = executor.loader.project_state(BEFORE).apps
    for pk, values in columns.items():
        old.get_model("runners", "Dispatch").objects.filter(pk=pk).update(**values)
        for at, reason in lines:
            step = old.get_model("runners", "Step")(dispatch_id=pk, from_state="running", to_state="running")
            step.kind, step.actor, step.reason = "host-outage", "worker", reason
            step._meta.get_field("at").auto_now_add = False
            step.at = at
            step.save()
            step._meta.get_field("at").auto_now_add = True
    return old.get_model("runners", "Dispatch")


def migrate():
    newest = MigrationExecutor(connection).loader.graph.leaf_nodes()
    MigrationExecutor(connection).migrate(newest)


def rows():
    return [(row.host.name, row.since, row.until - row.since, row.is_answered, row.count) for row in ended()]


def ended():
    return HostOutage.objects.exclude(until=None).select_related("host")


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_every_stored_outage_becomes_a_row_and_columns_again(in_state):
    dispatch = in_state(State.RUNNING)
    columns = {"outages_count": 40, "outages_ms": 174_700_000}
    before = store_as_before(MigrationExecutor(connection), {dispatch.pk: columns}, LINES)
    migrate()
    assert rows() == [
        ("local", MIDNIGHT - timedelta(seconds=7), timedelta(seconds=12), True, 1),
        ("local", MIDNIGHT + timedelta(seconds=3597), timedelta(seconds=3.1), True, 1),
        ("local", MIDNIGHT + timedelta(hours=2.5), timedelta(seconds=174_600), False, 1),
        ("local", MIDNIGHT + timedelta(hours=2.5), timedelta(seconds=84.9), True, 37),
    ]
    MigrationExecutor(connection).migrate(BEFORE)
    assert before.objects.values("outages_count", "outages_ms").get(pk=dispatch.pk) == columns
    migrate()
    assert dispatch.steps.filter(kind="host-outage").count() == len(LINES)


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_rounded_lengths_of_listed_outages_are_restored(in_state):
    dispatch = in_state(State.RUNNING)
    store_as_before(
        MigrationExecutor(connection), {dispatch.pk: {"outages_count": 3, "outages_ms": 174_614_850}}, LINES
    )
    migrate()
    lengths = [length for _, _, length, _, _ in rows()]
    assert round(sum(lengths, timedelta()).total_seconds() * 1000) == 174_614_850
    assert [round(length.total_seconds()) for length in lengths] == [12, 3, 174_600]


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_an_outage_that_lasts_is_one_row_for_all_its_dispatches(in_state):
    one = in_state(State.RUNNING)
    other, unnamed = queue_copy(one, ""), queue_copy(one, "")
    since = timezone.now() - timedelta(seconds=40)
    named = {"open_outages": {"local": since.isoformat()}}
    later = {"open_outages": {"local": (since + timedelta(seconds=3)).isoformat()}}
    silent = {"silent_since": since + timedelta(seconds=9), "heartbeat_at": since + timedelta(seconds=1)}
    columns = {one.pk: later, other: named, unnamed: silent | {"state": "collecting", "drive_key": "k"}}
    before = store_as_before(MigrationExecutor(connection), columns)
    migrate()
    outage = HostOutage.objects.get()
    assert (outage.since, outage.until, outage.count) == (since, None, 1)
    assert set(outage.dispatches.all()) == set(Dispatch.objects.all())
    MigrationExecutor(connection).migrate(BEFORE)
    assert set(before.objects.values_list("open_outages__local", flat=True)) == {since.isoformat()}
    migrate()
