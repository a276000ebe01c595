import stat
from contextlib import nullcontext

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from results.models import Event
from runners.enrolment import Pins, enrol, sudo_line
from runners.hosts.keys import fingerprint, key_path, public_key
from runners.models import Device, Host
from runners.states import LIVE, State
from tests.runners.ssh_host import PINNED, ssh_host

pytestmark = pytest.mark.django_db
KEY = PINNED["host_key"]
SHA256 = PINNED["program_sha256"]


def test_the_command_enrols_and_says_what_to_do_on_the_host(capsys):
    call_command("add_host", "lab-1", "--address", "192.0.2.1", "--host-key", KEY, "--sha256", SHA256)
    said = capsys.readouterr().out
    assert fingerprint(KEY) in said
    for shown in (sudo_line("drivecert"), public_key(), "/etc/drivecert/host.toml", "manage.py check_host lab-1"):
        assert shown in said
    assert Host.objects.get().program_sha256 == SHA256


@pytest.mark.parametrize(
    ("option", "value"), [("--user", "root"), ("--host-key", "rubbish"), ("--sha256", "abc"), ("--address", "a b")]
)
def test_the_command_refuses_what_nobody_can_be_known_by(option, value):
    given = {"--address": "192.0.2.1", "--host-key": KEY, "--sha256": SHA256} | {option: value}
    with pytest.raises(CommandError, match=value):
        call_command("add_host", "lab-1", *(word for pair in given.items() for word in pair))
    assert not Host.objects.exists()


def test_a_host_pinned_anew_is_checked_before_it_gets_work(staff):
    before = ssh_host(objections=["silent"])
    enrol("lab-1", Pins(**PINNED | {"program_sha256": "0" * 64}), staff)
    before.refresh_from_db()
    assert (before.objections, before.checked_at, before.program_sha256) == ([], None, "0" * 64)
    assert Event.objects.get().kind == "host-pinned-anew"


@pytest.mark.parametrize(
    ("state", "ended_at", "is_refused"),
    [(state, None, True) for state in sorted(LIVE)]
    + [(State.LOST, None, True), (State.LOST, timezone.now(), False), (State.QUEUED, None, False)],
)
@pytest.mark.parametrize("role", ["device", "load"])
def test_a_host_is_not_pinned_anew_while_something_may_run_there(in_state, staff, state, ended_at, is_refused, role):
    host = ssh_host()
    dispatch = in_state(state, ended_at=ended_at, load_host=host if role == "load" else None)
    Device.objects.filter(pk=dispatch.device_id if role == "device" else None).update(host=host)
    expected = pytest.raises(ValueError, match=f"{dispatch} is {state} there") if is_refused else nullcontext()
    with expected:
        enrol("lab-1", Pins(**PINNED | {"address": "192.0.2.2"}), staff)
    host.refresh_from_db()
    assert (host.address == PINNED["address"]) is is_refused


def test_this_machine_is_not_turned_into_a_host_over_ssh(device, staff):
    with pytest.raises(ValueError, match="own machine"):
        enrol("local", Pins(**PINNED), staff)


def test_the_key_is_made_once_and_for_the_register_alone():
    assert public_key() == public_key()
    assert stat.S_IMODE(key_path().stat().st_mode) == 0o600
