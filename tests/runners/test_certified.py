"""From orders to a certificate: preparation, load and stress test on one drive, and causes that prevent it."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from results.certification.certificates import attempts
from results.errors import ReviewRefusedError
from results.ingest import queue as ingest_queue
from results.lifecycle import visibility
from results.lifecycle.review import create_product
from results.models import Certificate, DriveInRun, Run
from runners.dispatch.orders import Order, order
from runners.inventory.devices import bind
from runners.models import Dispatch, DriveState, Host
from runners.models.states import State
from tests.results.builders import make_user
from tests.results.rows import make_product
from tests.runners.day_log import HOUR_S, day_log
from tests.runners.lab import poll
from tests.runners.prep_record import prep_record

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("real_reader")]

PATH, KEY = "/dev/nvme0n1", "nvme:EX4:S1"
STOPPED = "ERROR: large block writes can't keep up\ndrive(s) can't keep up - test stopped\n"
FACTS = {"vendor": "Exemplar", "model": "EX4", "part_number": "", "capacity_gb": 800, "firmware": "FW1",
         "category": "nvme-flash", "over_provisioning_pct": "7.00", "notes": ""}  # fmt: skip


class Clock:
    """The register's clock, which a test advances by `passed`."""

    def __init__(self, now):
        self.now, self.passed = now, timedelta()

    def __call__(self):
        return self.now() + self.passed


class Lab:
    """One drive on one host, and its orders."""

    def __init__(self, fake, connect, organisation, staff, clock, kind="nvme"):
        self.clock = clock
        self.fake, self.connect, self.organisation, self.staff = fake, connect, organisation, staff
        self.report(kind=kind)
        host = Host.objects.create(name="lab-1", kind="local")
        self.device = bind(host, fake.drives[PATH], "drive", staff)

    def report(self, kind="nvme", firmware="FW1", trims=5, boot="boot-1"):
        discards = {"boot_id": boot, "requests_count": trims, "bytes": trims * 4096}
        self.fake.add_drive(PATH, KEY, kind=kind, firmware=firmware, discards=discards, temperature_c=40)

    def begin(self, recipe, nx=None, **facts):
        wanted = Order(nx, None if nx is None else 24 * HOUR_S, HOUR_S, {}, FACTS | facts, recipe)
        dispatch = order(self.device, self.organisation, wanted, self.staff)
        poll(dispatch.pk, self.connect)
        return dispatch

    def end(self, dispatch, log=b"log\n", side=None, exit_status=0):
        self.clock.passed += timedelta(hours=5)
        self.fake.write_log(dispatch.public_id, log)
        if side is not None:
            self.fake.files[dispatch.public_id]["side.jsonl"] = side
        self.fake.end(dispatch.public_id, exit_status)
        poll(dispatch.pk, self.connect)
        dispatch.refresh_from_db()
        return dispatch

    def prepare(self, exit_status=0, **record):
        side = prep_record(KEY, **record)
        return self.end(self.begin("prep"), side=side, exit_status=exit_status)

    def run(self, nx, exit_status=0, over_provisioning_pct="7.00", **log):
        dispatch = self.begin("act-storage", Decimal(nx), over_provisioning_pct=over_provisioning_pct)
        return self.end(dispatch, day_log(nx, **log), exit_status=exit_status)

    def stress(self, **changes):
        """Run a stress test. It may exceed the limits, and then does not count as a load test."""
        return self.run(60, slow_pct=10, **changes)


@pytest.fixture
def product(db):
    return make_product(vendor="Exemplar", model="EX4", capacity_gb=800)


@pytest.fixture(autouse=True)
def clock(monkeypatch):
    clock = Clock(timezone.now)
    monkeypatch.setattr(timezone, "now", clock)
    return clock


@pytest.fixture
def lab(fake, connect, a_lab, staff, clock, product):
    return Lab(fake, connect, a_lab, staff, clock)


@pytest.fixture
def publish(db):
    rita = make_user("rita", is_reviewer=True)

    def read_and_publish():
        ingest_queue.sweep()
        for run in Run.objects.order_by("pk"):
            if run.product_id is None:
                create_product(run.submission, rita)  # the existing product, which is not public yet
            visibility.publish(run, rita)
        return list(Certificate.objects.all())

    return read_and_publish


def missing(product):
    product.refresh_from_db()
    (found,) = attempts(product)
    return {requirement["id"]: requirement["sentence"] for requirement in found["missing"]}


def test_a_day_at_n_and_a_day_at_2n_on_a_prepared_drive_certify(lab, publish):
    prepared = lab.prepare()
    load, stress = lab.run(30), lab.stress()
    assert {prepared.state, load.state, stress.state} == {State.DONE}
    (certificate,) = publish()
    assert (certificate.nx_load, certificate.firmware, certificate.runs.count()) == (30, "FW1", 2)
    drive = DriveInRun.objects.filter(run__submission=load.submission).get()
    assert (drive.preparation, drive.never_reset_after) == (prepared.preparation, True)
    assert prepared.preparation.evidence.kind == "prep"


def test_a_load_test_with_an_hour_over_the_limit_certifies_nothing(lab, publish):
    lab.prepare()
    lab.run(30, slow_pct=6)
    lab.stress()
    assert publish() == []


def test_without_a_preparation_nothing_is_certified(lab, publish, product):
    lab.run(30)
    lab.stress()
    assert publish() == []
    assert "preparation" in missing(product)


def test_a_drive_prepared_again_between_the_runs_certifies_nothing(lab, publish, product):
    lab.prepare()
    lab.run(30)
    lab.prepare(at="2026-11-22T10:00:00.000Z")
    lab.stress()
    assert publish() == []
    assert "prepared again" in missing(product)["preparation"]


@pytest.mark.parametrize(
    ("exit_status", "record"),
    [
        (5, {"reason": "interrupted"}),
        (None, {}),
        (0, {"passes": ["zero"]}),
        (0, {"is_resumed": True}),
        (0, {"devices": [{"path": PATH, "drive_key": "nvme:OTHER:S2"}]}),
    ],
)
def test_an_incomplete_preparation_is_evidence_but_does_not_count(lab, publish, product, exit_status, record):
    lab.prepare()  # a complete preparation, because later runs overwrote the drive
    broken = lab.prepare(exit_status, **record)
    assert broken.preparation is None
    lab.run(30)
    lab.stress()
    assert publish() == []
    assert "no evidence of a preparation" in missing(product)["preparation"]


def test_a_firmware_that_changed_during_the_stress_test_voids_the_pair(lab, publish, product):
    lab.prepare()
    lab.run(30)
    stress = lab.begin("act-storage", Decimal(60))
    lab.report(firmware="FW2")
    lab.end(stress, day_log(60, slow_pct=10))
    assert publish() == []
    assert "FW1, FW2" in missing(product)["firmware"]


def test_a_trim_after_the_preparation_voids_it(lab, publish, product):
    lab.prepare()
    lab.run(30)
    lab.report(trims=6)
    lab.stress()
    assert publish() == []
    assert "formatted or trimmed after its preparation" in missing(product)["preparation"]


def test_a_format_of_ours_after_the_preparation_voids_it(lab, publish, product):
    lab.prepare()
    load = lab.run(30)
    Dispatch.objects.filter(pk=load.pk).update(resets_drive_at=load.ended_at)
    lab.stress()
    assert publish() == []
    assert "formatted or trimmed after its preparation" in missing(product)["preparation"]


def test_after_a_restart_of_the_host_trims_cannot_be_ruled_out(lab, publish, product):
    lab.prepare()
    lab.report(boot="boot-2")
    lab.run(30)
    lab.stress()
    assert publish() == []
    assert "cannot be shown when" in missing(product)["preparation"]


def test_over_provisioning_that_is_not_reported_is_not_shown(lab, publish, product):
    lab.prepare()
    lab.run(30)
    lab.stress(over_provisioning_pct=None)
    assert publish() == []
    assert "over-provisioning" in missing(product)


def test_shortened_runs_certify_nothing(lab, publish, product):
    lab.prepare()
    lab.run(30, hours=12, asked_s=12 * HOUR_S)
    lab.stress(hours=12, asked_s=12 * HOUR_S)
    assert publish() == []


def test_a_stress_test_that_stopped_certifies_nothing(lab, publish, product):
    lab.prepare()
    lab.run(30)
    assert lab.stress(exit_status=4, hours=23, stop=STOPPED).state == State.DONE
    assert publish() == []
    (found,) = attempts(product)
    (stress,) = (one for one in found["missing"] if one["id"] == "stress")
    assert "the test stopped itself" in "; ".join(stress["shortcomings"][0]["departures"])


def test_a_virtual_device_certifies_nothing(fake, connect, a_lab, staff, clock, product):
    lab = Lab(fake, connect, a_lab, staff, clock, kind="virtual")
    lab.prepare()
    lab.run(30)
    lab.stress()
    ingest_queue.sweep()
    assert set(Run.objects.values_list("is_virtual", flat=True)) == {True}
    with pytest.raises(ReviewRefusedError, match="virtual"):
        visibility.publish(Run.objects.first(), make_user("rita", is_reviewer=True))


def test_a_drive_that_the_host_no_longer_reports_keeps_its_log_and_shows_no_state(lab, publish, product):
    lab.prepare()
    lab.run(30)
    stress = lab.begin("act-storage", Decimal(60))
    lab.fake.drives[PATH] = replace(lab.fake.drives[PATH], drive_key="nvme:EX4:S2")
    assert lab.end(stress, day_log(60, slow_pct=10)).state == State.DONE
    after = DriveState.objects.get(dispatch=stress, moment="after")
    assert (after.firmware, after.size_bytes) == (None, None)
    assert "expected drive nvme:EX4:S1, found nvme:EX4:S2" in after.reason
    assert publish() == []
