import pytest

from results.models import Event
from runners.inventory.devices import RefreshRefusedError, in_service_since, last_identified, refresh_identity
from runners.models import Device
from runners.models.states import LIVE, State

pytestmark = pytest.mark.django_db


def signature_known(device):
    return last_identified(device)[0]["signature"]


def test_a_wiped_drive_has_no_data_after_a_refresh(device, fake, staff):
    fake.add_drive(signature="an XFS file system")
    refresh_identity(device, fake, staff)
    assert signature_known(device) == "an XFS file system"
    since = in_service_since(device)
    fake.add_drive()
    refresh_identity(device, fake, staff)
    assert signature_known(device) is None
    assert in_service_since(device) == since  # others may have used it before, so its label is still required
    assert Event.objects.filter(kind="device-looked-at-again", actor=staff).count() == 2


def test_a_drive_under_another_name_is_followed(device, fake, staff):
    fake.drives.clear()
    fake.add_drive("/dev/fake7")
    refresh_identity(device, fake, staff)
    assert Device.objects.get().path == "/dev/fake7"


@pytest.mark.parametrize(("changed", "message"), [
    ({"drive_key": "loop:1:9"}, "expected drive loop:1:2 .*, found loop:1:9 .*; add the device again"),
    ({"size_bytes": 2**27}, "found loop:1:2 of 134217728 bytes; add the device again"),
    ({"refusals": ["/dev/fake0: mounted at /mnt"]}, "was not read: /dev/fake0: mounted at /mnt"),
])  # fmt: skip
def test_a_refresh_of_another_drive_or_one_in_use_changes_nothing(device, fake, staff, changed, message):
    fake.add_drive(signature="an XFS file system")
    refresh_identity(device, fake, staff)
    fake.add_drive(**changed)
    with pytest.raises(RefreshRefusedError, match=message):
        refresh_identity(device, fake, staff)
    assert signature_known(device) == "an XFS file system"


@pytest.mark.parametrize(
    ("state", "is_refused"), [*((state, True) for state in sorted(LIVE)), ("lost", True), ("queued", False)]
)
def test_a_drive_is_not_refreshed_while_a_run_may_be_on_it(in_state, fake, staff, state, is_refused):
    dispatch = in_state(State(state))
    fake.drives.clear()
    error = RefreshRefusedError if is_refused else Exception
    with pytest.raises(error, match=f"{dispatch} is {state} on it" if is_refused else "does not find drive"):
        refresh_identity(dispatch.device, fake, staff)
