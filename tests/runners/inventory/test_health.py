import time
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import pytest
from django.db import connection, transaction
from django.utils import timezone

from results.models import Event
from runners.dispatch.claim import claim
from runners.errors import HostUnavailableError, StartFailedError
from runners.hosts.protocol import FoundDrive
from runners.inventory import health
from runners.inventory.enrolment import Pins, enrol
from runners.models import Device
from runners.models.states import State
from tests.runners.ssh_host import HEALTH, PINNED, ssh_host
from tests.runners.threads import in_threads

pytestmark = pytest.mark.django_db
MIB = 1024 * 1024


class HealthyHost:
    """A healthy host, with the changes of a test."""

    def __init__(self, **changes):
        self.report = HEALTH | {"clock_unix_ns": time.time_ns()} | changes
        self.paths = ["/dev/nvme0n1"]

    def health(self):
        return dict(self.report)

    def find(self, drive_key, size_bytes):
        return self.paths

    def list_drives(self):
        return [FoundDrive("/dev/nvme0n1", "nvme", "nvme:M:S1", 2**40, "M", "S1")]


class OldHost(HealthyHost):
    def list_drives(self):
        raise StartFailedError("expected a request that drivetest 0.2.0 knows: unknown variant `drives`")


class SilentHost:
    def health(self):
        raise HostUnavailableError("lab-1: no answer within 20 s")


def test_this_machine_gets_work_without_a_check(device):
    assert health.no_work_message(device.host) == ""


def leave(monkeypatch, free_mib):
    usage = SimpleNamespace(free=free_mib * MIB)
    monkeypatch.setattr(health.shutil, "disk_usage", lambda place: usage)


@pytest.mark.parametrize(("free_mib", "is_full"), [(1024, False), (1023, True)])
def test_this_machine_gets_no_work_without_space_for_logs(dispatch, connect, monkeypatch, free_mib, is_full):
    leave(monkeypatch, free_mib)
    assert claim(dispatch, connect) is not is_full
    dispatch.refresh_from_db()
    assert (f"{free_mib} MiB free, expected at least 1024 MiB" in dispatch.reason) is is_full


def test_this_machine_does_not_report_the_space_of_another_one(device, monkeypatch):
    leave(monkeypatch, 0)
    device.host.machine_id = "of-another"
    assert health.no_work_message(device.host) == ""


def test_a_host_gets_work_after_a_check_that_found_nothing():
    host = ssh_host()
    assert health.no_work_message(host) == "it has not been checked yet"
    assert health.check(host, HealthyHost()) == []
    assert health.no_work_message(host) == ""


@pytest.mark.parametrize(("periods", "is_overdue"), [(2.9, False), (3.1, True)])
def test_a_check_that_is_overdue_means_no_work(settings, periods, is_overdue):
    seconds = periods * settings.HOST_CHECK_PERIOD_S
    host = ssh_host(checked_at=timezone.now() - timedelta(seconds=seconds))
    assert ("overdue" in health.no_work_message(host)) is is_overdue


def test_a_silent_host_gets_no_work_and_keeps_its_last_report():
    host = ssh_host(health=HEALTH)
    assert health.check(host, SilentHost()) == ["lab-1: no answer within 20 s"]
    assert host.health == HEALTH
    assert health.no_work_message(host) == "lab-1: no answer within 20 s"


def test_an_invalid_answer_means_no_work():
    host, stranger = ssh_host(), HealthyHost()
    del stranger.report["drives"]
    assert "expected drivecert.host-health/1" in health.check(host, stranger)[0]


@pytest.mark.parametrize(
    "changes", [{"drives": [None]}, {"size_bytes": "much"}, {"clock_unix_ns": 10**30}, {"clock_unix_ns": True}]
)
def test_an_answer_that_no_page_can_show_is_not_stored(changes):
    host = ssh_host()
    assert "expected drivecert.host-health/1" in health.check(host, HealthyHost(**changes))[0]
    assert host.health == {}


def test_another_program_means_no_work():
    (objection,) = health.check(ssh_host(), HealthyHost(program_sha256="0" * 64))
    assert "SHA-256 0000000000000000..., expected 5e5e5e5e5e5e5e5e..." in objection


@pytest.mark.parametrize(("offset_s", "objected"), [(29, False), (-29, False), (31, True), (-31, True), (600, True)])
def test_a_clock_may_be_off_by_half_a_minute(frozen_clock, offset_s, objected):
    answering = HealthyHost(clock_unix_ns=int((frozen_clock.timestamp() + offset_s) * 10**9))
    assert bool(health.check(ssh_host(), answering)) is objected


@pytest.mark.parametrize(("free_mib", "objected"), [(1024, False), (1023, True)])
def test_a_host_needs_space_for_logs(free_mib, objected):
    objections = health.check(ssh_host(), HealthyHost(free_bytes=free_mib * MIB))
    assert ["enlarge that file system" in each for each in objections] == [True] * objected


def test_a_host_without_a_listed_drive_gets_no_work():
    assert "listed no drive" in health.check(ssh_host(), HealthyHost(drives=[]))[0]


def test_a_check_stores_the_drives_of_the_host():
    host = ssh_host()
    assert health.check(host, HealthyHost()) == []
    (found,) = host.health["found"]
    assert (found["path"], found["serial"], found["size_bytes"]) == ("/dev/nvme0n1", "S1", 2**40)


def test_a_host_whose_program_is_too_old_to_list_its_drives_gets_its_work():
    host = ssh_host()
    assert health.check(host, OldHost()) == []
    assert host.health["found"] is None


def test_a_missing_device_is_reported_and_the_others_get_work():
    host, healthy_host = ssh_host(), HealthyHost()
    Device.objects.create(host=host, label="a", identity_kind="nvme", identity={}, drive_key="nvme:M:S2", size_bytes=1)
    healthy_host.paths = []
    assert health.check(host, healthy_host) == []
    (device,) = host.health["devices"]
    assert (device["paths"], device["listed"]) == ([], False)


def bound(host, path, drive_key):
    columns = {"identity_kind": "nvme", "identity": {}, "size_bytes": 1}
    return Device.objects.create(host=host, label=drive_key, path=path, drive_key=drive_key, **columns)


class SwappedHost(HealthyHost):
    """Two drives whose names were exchanged."""

    def find(self, drive_key, size_bytes):
        return {"nvme:M:S1": ["/dev/nvme1n1"], "nvme:M:S2": ["/dev/nvme0n1"]}[drive_key]


def test_devices_follow_their_drives_whose_names_were_swapped():
    host = ssh_host()
    devices = [bound(host, "/dev/nvme0n1", "nvme:M:S1"), bound(host, "/dev/nvme1n1", "nvme:M:S2")]
    assert health.check(host, SwappedHost()) == []
    for device in devices:
        device.refresh_from_db()
    assert [device.path for device in devices] == ["/dev/nvme1n1", "/dev/nvme0n1"]
    moves = Event.objects.filter(kind="device-followed").order_by("pk").values_list("details__from", "details__to")
    assert list(moves) == [("/dev/nvme0n1", "/dev/nvme1n1"), ("/dev/nvme1n1", "/dev/nvme0n1")]


@pytest.mark.parametrize("paths", [[], ["/dev/nvme4n1", "/dev/nvme5n1"], ["/dev/nvme4n1", "/dev/nvme0n1"]])
def test_a_device_keeps_its_path_while_its_drive_is_missing_or_has_several_names(paths):
    host, healthy_host = ssh_host(), HealthyHost()
    device = bound(host, "/dev/nvme0n1", "nvme:M:S1")
    healthy_host.paths = paths
    assert health.check(host, healthy_host) == []
    device.refresh_from_db()
    assert device.path == "/dev/nvme0n1"


def waits_s(host):
    return round((host.next_check_at - timezone.now()).total_seconds())


def test_due_checks_are_taken_once_the_longest_due_first(settings):
    old = timezone.now() - timedelta(seconds=1)
    fresh, stale = ssh_host("never"), ssh_host("stale", next_check_at=old)
    ssh_host("later", next_check_at=timezone.now() + timedelta(seconds=60))
    assert health.take_due_hosts(1) == [stale]
    assert health.take_due_hosts(9) == [fresh]
    assert health.take_due_hosts(9) == []
    stale.refresh_from_db()
    assert waits_s(stale) == pytest.approx(settings.HOST_CHECK_PERIOD_S, abs=20)


@pytest.mark.parametrize(("period_s", "is_silent_first"), [(61, False), (57, True)])
def test_a_silent_host_is_checked_as_if_it_was_due_a_period_later(settings, period_s, is_silent_first):
    settings.HOST_CHECK_PERIOD_S = period_s
    now = timezone.now()
    silent = ssh_host("silent", next_check_at=now - timedelta(seconds=60), silent_checks=1)
    answering = ssh_host("answering", next_check_at=now - timedelta(seconds=1))
    ordered = [silent, answering] if is_silent_first else [answering, silent]
    assert [health.take_due_hosts(1) for _ in ordered] == [[host] for host in ordered]


def test_this_machine_is_never_taken(device):
    assert health.take_due_hosts(9) == []


@pytest.mark.django_db(transaction=True)
def test_one_of_two_workers_takes_a_host():
    host = ssh_host()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT FROM runners_host WHERE id = %s FOR UPDATE", [host.pk])
        assert in_threads(lambda _: health.take_due_hosts(9), [0]) == [[]]


def test_a_healthy_host_is_checked_after_a_period_and_an_unhealthy_one_after_a_minute(settings):
    host = ssh_host()
    health.check(host, HealthyHost())
    assert waits_s(host) == pytest.approx(settings.HOST_CHECK_PERIOD_S, abs=20)
    health.check(host, HealthyHost(drives=[]))
    assert waits_s(host) == pytest.approx(60, abs=20)


def test_a_silent_host_is_checked_less_often_the_longer_it_is_silent(settings):
    settings.HOST_CHECK_PERIOD_S = 300
    host, waited = ssh_host(), []
    for _ in range(5):
        health.check(host, SilentHost())
        waited.append(waits_s(host))
    assert waited == pytest.approx([60, 120, 240, 300, 300], abs=20)
    health.check(host, HealthyHost(drives=[]))
    assert waits_s(host) == pytest.approx(60, abs=20)


def test_a_check_in_progress_does_not_apply_to_a_host_that_was_pinned_again(staff):
    host = ssh_host()

    class PinnedMeanwhile(HealthyHost):
        def health(self):
            enrol("lab-1", Pins(**PINNED | {"address": "192.0.2.2"}), staff)
            return super().health()

    health.check(host, PinnedMeanwhile())
    assert (host.address, host.checked_at) == ("192.0.2.2", None)
    assert health.no_work_message(host) == "it has not been checked yet"


def test_an_unhealthy_host_gets_no_dispatch(dispatch, connect):
    host = ssh_host()
    dispatch.device.host = host
    dispatch.device.save()
    assert not claim(dispatch, connect)
    assert dispatch.state == State.QUEUED
    assert "lab-1 gets no work: it has not been checked yet" in dispatch.reason
    health.check(host, HealthyHost())
    dispatch.refresh_from_db()
    assert claim(dispatch, connect)


def test_objections_of_a_check_are_shown_with_its_time(dispatch, connect):
    dispatch.device.host = ssh_host(
        objections=["its clock is slow"], checked_at=datetime(2026, 11, 22, 9, 5, tzinfo=UTC)
    )
    dispatch.device.save()
    assert not claim(dispatch, connect)
    assert dispatch.reason == "host lab-1 gets no work: its clock is slow (checked on 22 November 2026, 09:05 UTC)"
