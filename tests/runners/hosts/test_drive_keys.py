import pytest

from runners.evidence.submit import store_drive_state
from runners.hosts.drive_keys import keys_of
from runners.inventory.devices import bind
from runners.inventory.safety import identify_device, objections_to_start
from runners.models import Device, DriveState, Host
from tests.runners.drive_key_table import rows

BEFORE, NOW = "file:64768:1000", "file:lab1:64768:1000"
MARKED, OF_A_CLONE = "file:lab1~0123456789ab:64768:1000", "file:lab1~ba9876543210:64768:1000"


@pytest.mark.parametrize(
    ("now", "keys"),
    [
        (NOW, {NOW, BEFORE}),
        (MARKED, {MARKED, NOW, BEFORE}),
        ("zram:lab1~0123456789ab:3:1024", {"zram:lab1~0123456789ab:3:1024", "zram:lab1:3:1024"}),
        ("block:lab1~0123456789ab:a:b/c", {"block:lab1~0123456789ab:a:b/c", "block:lab1:a:b/c"}),
        ("nvme:M~0123456789ab:S1", {"nvme:M~0123456789ab:S1"}),
        ("file:lab1~0123:64768:1000", {"file:lab1~0123:64768:1000", BEFORE}),
        (BEFORE, {BEFORE}),
        ("nvme:MODEL:S1:X", {"nvme:MODEL:S1:X"}),
        ("loop:lab1:loop0", {"loop:lab1:loop0"}),
        ("", {""}),
    ],
)
def test_a_file_may_have_been_bound_before_its_key_named_a_host(now, keys):
    assert keys_of(now) == keys


@pytest.mark.parametrize(("bound", "now", "is_same", "why"), rows())
def test_both_programs_compute_the_same_drive_keys(bound, now, is_same, why):
    assert (bound in keys_of(now)) is is_same, why


@pytest.fixture
def bound_before(device, fake):
    Device.objects.filter(pk=device.pk).update(drive_key=BEFORE)
    fake.add_drive(device.path, NOW)
    device.refresh_from_db()
    return device


@pytest.mark.django_db
def test_a_device_that_was_bound_earlier_keeps_its_key(bound_before, new_dispatch, fake):
    dispatch = new_dispatch()
    identity = identify_device(bound_before, fake)
    assert objections_to_start(dispatch, identity) == []
    store_drive_state(dispatch, DriveState.Moment.BEFORE, fake.identify(bound_before.path))
    assert not dispatch.drive_states.get().reason


@pytest.mark.django_db
def test_a_file_of_another_host_is_another_drive(bound_before, new_dispatch, fake):
    fake.add_drive(bound_before.path, "file:lab1:64768:1001")
    assert "expected drive" in objections_to_start(new_dispatch(), identify_device(bound_before, fake))[0]


@pytest.mark.django_db
def test_a_file_that_is_added_again_keeps_its_device(bound_before, fake, staff):
    again = bind(bound_before.host, fake.identify(bound_before.path), "again", staff)
    assert (again.pk, again.drive_key, again.label) == (bound_before.pk, BEFORE, "again")


@pytest.mark.django_db
def test_cloned_machines_have_separate_drives(device, fake, staff):
    clone = Host.objects.create(name="clone", kind="local", machine_id="of-another")
    devices = [
        bind(host, fake.add_drive("/srv/drive.img", key), "a file", staff)
        for host, key in ((device.host, MARKED), (clone, OF_A_CLONE))
    ]
    assert [each.drive_key for each in devices] == [MARKED, OF_A_CLONE]


@pytest.mark.django_db
def test_a_device_bound_by_the_name_of_its_host_alone_keeps_its_key(device, new_dispatch, fake, staff):
    Device.objects.filter(pk=device.pk).update(drive_key=NOW)
    fake.add_drive(device.path, MARKED)
    device.refresh_from_db()
    assert objections_to_start(new_dispatch(), identify_device(device, fake)) == []
    assert bind(device.host, fake.identify(device.path), "again", staff).drive_key == NOW


@pytest.mark.django_db
def test_a_drive_of_a_machine_with_two_hosts_has_one_key(device, fake, staff):
    Device.objects.filter(pk=device.pk).update(drive_key=NOW)
    again = Host.objects.create(name="the-same", kind="local", machine_id="the-same")
    assert bind(again, fake.add_drive("/srv/drive.img", MARKED), "a file", staff).drive_key == NOW
