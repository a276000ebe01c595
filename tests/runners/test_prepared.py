"""Preparations with the real drivetest on this machine, and their evidence."""

import time

import pytest

from results.evidence.store import open_evidence
from results.models import Event, Evidence, Reading
from runners.dispatch.orders import Order, order
from runners.hosts import connect
from runners.hosts.local import LocalHost
from runners.inventory.devices import add_local_host, bind
from runners.models.states import FINAL, State
from tests.runners.lab import poll

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("drivetest")]

SIZE_BYTES = 16 * 1024 * 1024
LIMIT_S = 180


@pytest.fixture
def ordered(a_lab, staff, tmp_path):
    path = tmp_path / "drive.img"
    LocalHost().create_file(str(path), SIZE_BYTES)
    device = bind(add_local_host(staff), LocalHost().identify(str(path)), "file", staff)

    def order_prep(**options):
        return path, order(device, a_lab, Order(recipe="prep", options=options), staff)

    return order_prep


def carry_out(dispatch):
    end = time.monotonic() + LIMIT_S
    while dispatch.state not in FINAL and time.monotonic() < end:
        poll(dispatch.pk, connect)
        dispatch.refresh_from_db()
        time.sleep(0.05)
    return dispatch


def test_a_preparation_leaves_evidence_that_is_not_read_for_runs(ordered):
    path, dispatch = ordered()
    assert carry_out(dispatch).state == State.DONE, dispatch.reason
    made = dispatch.preparation
    assert (made.drive_key, made.evidence.kind) == (dispatch.drive_key, Evidence.Kind.PREP)
    assert made.started_at < made.finished_at
    with open_evidence(made.evidence) as stream:
        assert b'"drivecert.prep/1"' in stream.readline()
    assert not Reading.objects.exists()
    assert Event.objects.get(kind="evidence-kept").subject_id == dispatch.public_id
    assert len(set(path.read_bytes())) == 256, "random data holds every byte"
    assert dispatch.progress["prep"]["total_bytes"] == SIZE_BYTES


def test_recognised_data_is_overwritten_only_with_consent(ordered):
    path, dispatch = ordered()
    with path.open("r+b") as stream:
        stream.seek(0x438)
        stream.write(b"\x53\xef")  # ext4's magic number
    carry_out(dispatch)
    assert (dispatch.state, dispatch.preparation) == (State.REFUSED, None)
    assert "type the device's label" in dispatch.reason
    assert "--i-know-this-destroys-data" not in dispatch.reason, "a remedy for users of the command line"
    _, consented = ordered(i_know_this_destroys_data="an ext2, ext3 or ext4 file system")
    assert carry_out(consented).state == State.DONE, consented.reason
