import os
import time
from datetime import timedelta

import pytest
from django.utils import timezone

from results.models import Evidence, Reading, Scrub, ScrubFault
from runners.models import Dispatch, Host, HostOutage
from runners.models.states import State
from tests.results.builders import make_organisation, send
from tests.runners.ssh_host import ssh_host
from webapp.access_limits.shared_limits import redis
from webapp.backup.models import Backup
from webapp.monitoring import groups, tallies
from webapp.monitoring.tasks import count
from webapp.notices.models import Mail

pytestmark = pytest.mark.django_db


def values(metrics):
    """Return the values of a group by the name of the metric and the value of its label."""
    return {
        (metric.name.removeprefix("drivecert_"), *sample.labels.values()): sample.value
        for metric in metrics
        for sample in metric.samples
    }


def ago(seconds):
    return timezone.now() - timedelta(seconds=seconds)


def test_the_queue_of_readings_has_a_length_and_an_age(evidence_dir, stand_in):
    assert set(values(groups.readings()).values()) == {0}
    organisation = make_organisation()
    for content in (b"a", b"b", b"c"):
        send(organisation, content)
    states = ("pending", "reading", "failed")
    for row, state in zip(Reading.objects.order_by("pk"), states, strict=True):
        Reading.objects.filter(pk=row.pk).update(state=state, created_at=ago(100 * row.pk))
    found = values(groups.readings())
    assert found["readings_waiting", "submission"] == 2
    second = Reading.objects.get(state="reading")
    assert found["readings_oldest_seconds", "submission"] == pytest.approx(100 * second.pk, abs=5)
    assert found["readings_waiting", "draft"] == 0


@pytest.mark.parametrize("state", State)
def test_a_dispatch_counts_until_it_is_over(in_state, state):
    in_state(state)
    found = values(groups.dispatches())
    is_open = state not in {State.DONE, State.FAILED, State.REFUSED, State.CANCELLED}
    assert sum(number for (name, *_), number in found.items() if name == "dispatches_unfinished") == is_open
    if is_open:
        assert found["dispatches_unfinished", state] == 1


def test_a_lost_dispatch_whose_end_is_confirmed_is_over(in_state):
    in_state(State.LOST, ended_at=timezone.now())
    assert values(groups.dispatches())["dispatches_unfinished", "lost"] == 0


def test_a_late_poll_and_an_open_outage_show(in_state):
    dispatch = in_state(State.RUNNING, next_poll_at=ago(40))
    outage = HostOutage.objects.create(host=dispatch.device.host, cause="no-answer", since=ago(60))
    found = values(groups.dispatches())
    assert found["dispatch_poll_delay_seconds",] == pytest.approx(40, abs=5)
    assert found["outages_open",] == 1
    outage.until = timezone.now()
    outage.save()
    Dispatch.objects.update(next_poll_at=timezone.now() + timedelta(seconds=5))
    assert values(groups.dispatches()).items() >= {("dispatch_poll_delay_seconds",): 0, ("outages_open",): 0}.items()


def test_a_lost_dispatch_is_not_polled_and_so_never_late(in_state):
    in_state(State.LOST, next_poll_at=ago(4000))
    assert values(groups.dispatches())["dispatch_poll_delay_seconds",] == 0


def test_hosts_are_counted_by_state(settings):
    settings.HOST_CHECK_PERIOD_S = 300
    Host.objects.create(name="local", kind="local")
    ssh_host("working", checked_at=ago(890))
    ssh_host("late", checked_at=ago(910))
    ssh_host("silent", checked_at=ago(10), silent_checks=1)
    ssh_host("refused", checked_at=ago(10), objections=["its clock is wrong"])
    ssh_host("unchecked")
    ssh_host("retired", checked_at=ago(9000), retired_at=timezone.now())
    found = values(groups.hosts())
    expected = {"working": 1, "refused": 1, "silent": 2, "unchecked": 1, "local": 1, "retired": 1}
    assert {key[1]: number for key, number in found.items() if len(key) == 2} == expected
    assert found["host_oldest_check_seconds",] == pytest.approx(910, abs=5)


def test_mails_that_wait_have_an_age(staff):
    for state in Mail.State:
        Mail.objects.create(recipient=staff, message_id=f"m-{state}", is_digest=False, state=state, created_at=ago(70))
    found = values(groups.deliveries())
    assert found["deliveries_waiting", "mail"] == 2
    assert found["deliveries_oldest_seconds", "mail"] == pytest.approx(70, abs=5)


def test_the_snapshot_and_the_dump_have_an_age(settings, tmp_path):
    settings.DATA_DIR = settings.SNAPSHOT_DIR = tmp_path
    assert values(groups.snapshots()) == {}
    moment = time.time() - 50
    (tmp_path / "looked-at").touch()
    dump = tmp_path / "dumps" / "2026-11-20"
    dump.mkdir(parents=True)
    os.utime(tmp_path / "looked-at", (moment, moment))
    os.utime(dump, (moment, moment))
    found = values(groups.snapshots())
    assert found["snapshot_age_seconds",] == pytest.approx(50, abs=5)
    assert found["dump_age_seconds",] == pytest.approx(50, abs=5)


def test_a_snapshot_and_a_dump_that_were_never_made_are_as_old_as_the_first_evidence(
    evidence_dir, stand_in, settings, tmp_path
):
    settings.SNAPSHOT_DIR = tmp_path / "missing"
    Evidence.objects.filter(pk=send(make_organisation(), b"a").log_id).update(received_at=ago(500))
    found = values(groups.snapshots())
    assert (found["snapshot_age_seconds",], found["dump_age_seconds",]) == pytest.approx((500, 500), abs=5)


@pytest.fixture
def _own_tallies(monkeypatch):
    monkeypatch.setattr(tallies, "KEY", f"drivecert:tallies-{os.getpid()}")
    yield
    redis().delete(tallies.KEY)


@pytest.mark.usefixtures("_own_tallies")
def test_whole_tables_are_counted_by_the_task_and_not_by_the_scrape(
    evidence_dir, stand_in, dispatch, django_assert_num_queries
):
    assert values(groups.tallies()) == {}
    send(make_organisation(), b"the same bytes")
    send(make_organisation("other"), b"the same bytes")
    count()
    with django_assert_num_queries(0):
        found = values(groups.tallies())
    assert found["readings", "pending"] == 2
    assert found["submissions", "received"] == 2
    assert found["dispatches", "queued"] == 1
    assert (found["evidence_bytes",], found["evidence_files",]) == (14, 1)
    assert 0 <= found["tallies_age_seconds",] < 60


@pytest.mark.usefixtures("_own_tallies")
def test_a_costly_count_is_repeated_later(monkeypatch):
    assert tallies.update_tallies()
    last = tallies.stored_tallies()
    monkeypatch.setattr(tallies, "stored_tallies", lambda: last | {"seconds": 3, "at": time.time() - 290})
    assert not tallies.update_tallies()
    monkeypatch.setattr(tallies, "stored_tallies", lambda: last | {"seconds": 3, "at": time.time() - 310})
    assert tallies.update_tallies()


@pytest.mark.usefixtures("_own_tallies")
@pytest.mark.parametrize(("age_s", "is_counted"), [(1190, False), (1210, True)])
def test_a_very_costly_count_is_repeated_after_20_minutes(monkeypatch, age_s, is_counted):
    monkeypatch.setattr(tallies, "stored_tallies", lambda: {"seconds": 60, "at": time.time() - age_s})
    assert tallies.update_tallies() is is_counted


def test_the_ages_of_scrub_and_backup_begin_with_the_first_evidence(evidence_dir, stand_in):
    assert values(groups.stored_files()) == {("stored_file_faults",): 0}
    Evidence.objects.filter(pk=send(make_organisation(), b"a").log_id).update(received_at=ago(500))
    found = values(groups.stored_files())
    assert (found["scrub_age_seconds",], found["backup_age_seconds",]) == pytest.approx((500, 500), abs=5)
    Scrub.objects.create(started_at=ago(300), ended_at=ago(200))
    Scrub.objects.create(started_at=ago(20))
    Backup.objects.create(outcome="good", started_at=ago(100))
    Backup.objects.create(outcome="incomplete", started_at=ago(50))
    fault = {"kind": "missing", "size_bytes": 1, "first_seen_at": ago(9), "last_seen_at": ago(9)}
    ScrubFault.objects.create(sha256="aa" * 32, **fault)
    ScrubFault.objects.create(sha256="bb" * 32, **fault, closed_at=ago(1))
    found = values(groups.stored_files())
    assert (found["scrub_age_seconds",], found["backup_age_seconds",]) == pytest.approx((200, 100), abs=5)
    assert found["stored_file_faults",] == 1
