"""A lab with one host and one drive on it, and dispatches ordered for that drive."""

import subprocess
from decimal import Decimal
from pathlib import Path

import pytest
from django.conf import settings
from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from results.models import Organisation
from runners.dispatch.orders import Order, order
from runners.dispatch.poll_scheduler import poll_batch, poll_reachable, take_due_batches
from runners.hosts import connect as connect_really
from runners.hosts import is_reachable
from runners.hosts.machine import machine_id
from runners.inventory.devices import bind
from runners.models import Dispatch, Host, HostOutage
from runners.models.states import State
from tests.results.stored_files import use_directory
from tests.runners.fake_host import FakeHost


@pytest.fixture(autouse=True)
def separate_evidence(settings, tmp_path):
    use_directory(settings, tmp_path / "evidence")
    settings.LAB_DIR = tmp_path / "lab"


@pytest.fixture
def frozen_clock(monkeypatch):
    """Freeze the register's clock now: shown seconds then do not depend on the speed of the test."""
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now)
    return now


def add_outage(dispatch, since, until=None, host=None, **columns):
    """Add an outage of the drive's host, or of another one, that affects a dispatch."""
    columns = {"cause": HostOutage.Cause.NO_ANSWER, "is_answered": until is not None} | columns
    outage = HostOutage.objects.create(host=host or dispatch.device.host, since=since, until=until, **columns)
    outage.dispatches.add(dispatch)
    return outage


def poll_all(connect):
    """Poll all dispatches in this thread, as if all had just become due."""
    Host.objects.filter(kind=Host.Kind.LOCAL, machine_id="").update(machine_id=machine_id())
    _make_due()
    for is_silent in (False, True):
        while batches := take_due_batches(is_silent, LIMIT, running_period_s=0):
            for batch in batches:
                poll_batch(batch, connect)


def _make_due():
    """Make all dispatches due, except locked ones: a dispatch that ends locks rows in another order."""
    with transaction.atomic():
        unlocked = list(
            Dispatch.objects.order_by("pk").select_for_update(skip_locked=True).values_list("pk", flat=True)
        )
        Dispatch.objects.filter(pk__in=unlocked).update(next_poll_at=Now())


LIMIT = 3  # rows at once: several batches if a test has several dispatches
NEEDED = ("identify", "run", "storage")


@pytest.fixture(scope="session")
def drivetest():
    """Return the real program. Without it, the tests that need it are skipped; nothing replaces it."""
    program = Path(settings.DRIVETEST)
    if not program.exists():
        pytest.skip(f"{program} is not built; the lab is not tested with the real program")
    commands = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    missing = [command for command in NEEDED if f"  {command} " not in commands]
    if missing:
        pytest.skip(f"{program} lacks {', '.join(missing)}; the lab is not tested with the real program")
    return program


@pytest.fixture
def fake():
    host = FakeHost()
    host.add_drive()
    return host


@pytest.fixture
def connect(fake):
    return lambda host: fake


@pytest.fixture
def a_lab(db):
    return Organisation.objects.create(slug="a-lab", name="A lab", kind="lab", confirmed_at="2026-01-01T00:00Z")


@pytest.fixture
def device(staff, fake):
    host = Host.objects.create(name="local", kind="local")
    return bind(host, fake.drives["/dev/fake0"], "fake drive", staff)


@pytest.fixture
def new_dispatch(device, a_lab, staff):
    def create():
        return order(device, a_lab, Order(Decimal(1), 60, 10), staff)

    return create


@pytest.fixture
def dispatch(new_dispatch):
    return new_dispatch()


@pytest.fixture
def in_state(dispatch):
    """Put the dispatch into a state as if its steps had been made."""

    def put(state, **columns):
        Dispatch.objects.filter(pk=dispatch.pk).update(state=state, generation=1, **columns)
        dispatch.refresh_from_db()
        return dispatch

    return put


def poll(dispatch_id, connect_host=connect_really):
    """Poll one dispatch now, unless another machine's worker must do it: only that one reaches its host `local`."""
    if is_reachable(Host.objects.get(devices__dispatches=dispatch_id)):
        poll_reachable(dispatch_id, connect_host)


def poll_state(dispatch, connect):
    """Poll a dispatch and return its state."""
    poll(dispatch.pk, connect)
    dispatch.refresh_from_db()
    return dispatch.state


@pytest.fixture
def running(dispatch, connect, fake):
    """Return a dispatch whose program runs and has written a whole log."""
    assert poll_state(dispatch, connect) == State.RUNNING
    fake.write_log(dispatch.public_id)
    return dispatch


@pytest.fixture
def other_drive(device, staff, fake):
    return bind(device.host, fake.add_drive("/dev/fake1", "loop:1:3"), "other drive", staff)
