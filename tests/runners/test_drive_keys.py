import pytest

from runners.drive_keys import keys_of
from runners.drive_states import keep
from runners.models import Device, DriveState
from runners.orders import bind
from runners.safety import objections_to_start
from runners.whereabouts import look_up

BEFORE, NOW = "file:64768:1000", "file:lab1:64768:1000"


@pytest.mark.parametrize(
    ("now", "keys"),
    [
        (NOW, {NOW, BEFORE}),
        (BEFORE, {BEFORE}),
        ("nvme:MODEL:S1:X", {"nvme:MODEL:S1:X"}),
        ("loop:lab1:loop0", {"loop:lab1:loop0"}),
        ("", {""}),
    ],
)
def test_a_file_may_have_been_bound_before_its_key_named_a_host(now, keys):
    assert keys_of(now) == keys


@pytest.fixture
def bound_before(device, fake):
    Device.objects.filter(pk=device.pk).update(drive_key=BEFORE)
    fake.add_drive(device.path, NOW)
    device.refresh_from_db()
    return device


@pytest.mark.django_db
def test_a_device_that_was_bound_before_goes_on_under_its_key(bound_before, new_dispatch, fake):
    dispatch = new_dispatch()
    identity = look_up(bound_before, fake)
    assert objections_to_start(dispatch, identity) == []
    keep(dispatch, DriveState.Moment.BEFORE, fake.identify(bound_before.path))
    assert not dispatch.drive_states.get().reason


@pytest.mark.django_db
def test_a_file_of_another_host_is_another_drive(bound_before, new_dispatch, fake):
    fake.add_drive(bound_before.path, "file:lab1:64768:1001")
    assert "expected drive" in objections_to_start(new_dispatch(), look_up(bound_before, fake))[0]


@pytest.mark.django_db
def test_a_file_that_is_added_again_keeps_its_device(bound_before, fake, staff):
    again = bind(bound_before.host, fake.identify(bound_before.path), "again", staff)
    assert (again.pk, again.drive_key, again.label) == (bound_before.pk, BEFORE, "again")
