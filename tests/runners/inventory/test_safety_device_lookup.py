"""Device lookup: a load reaches only the bound drive, even if names change between order and start."""

import random
import re
from decimal import Decimal

import pytest

from runners.errors import DeviceUnknownError, HostError, StartRefusedError
from runners.hosts.protocol import Identity
from runners.inventory.safety import follow_drive, identify_device, is_same_part, objections_to_start
from runners.models import Device, Dispatch, Host
from runners.models.states import State
from runners.recipes.act import STORAGE
from tests.runners.lab import poll

pytestmark = pytest.mark.django_db
GB = 10**9
INVENTORIES = 1000


class RenamingHost:
    """A host with invented drives, whose names are exchanged before the requests in `renames_before`."""

    def __init__(self, rng, renames_before=()):
        self.rng = rng
        self.renames_before = renames_before
        drives = [(f"nvme:M{rng.randrange(2)}:S{number}", rng.choice((1, 1, 2)) * GB) for number in range(6)]
        self.drives = rng.sample(drives, rng.randrange(1, 6))
        # A second path of a multipath host, and a partition of a drive: the same key under another name.
        self.drives += [self.drives[0]] * rng.randrange(2)
        self.drives += [(self.drives[-1][0], GB // 2)] * rng.randrange(2)
        self.at = {}
        self.loaded = []
        self.rename()

    def rename(self):
        names = self.rng.sample([f"/dev/nvme{number}n1" for number in range(8)], len(self.drives))
        self.at = dict(zip(names, self.drives, strict=True))

    def lose(self, drive_key):
        self.drives = [drive for drive in self.drives if drive[0] != drive_key]
        self.rename()

    def identify(self, path):
        self._before("identify")
        if path not in self.at:
            raise DeviceUnknownError(f"{path}: no such device")
        drive_key, size_bytes = self.at[path]
        return Identity(path, "nvme", drive_key, size_bytes)

    def find(self, drive_key, size_bytes):
        self._before("find")
        return [path for path, drive in self.at.items() if drive == (drive_key, size_bytes)]

    def start(self, config, expected, checks):
        """Load the drive that the configuration names. A real host and drivetest first check the opened device."""
        self._before("start")
        path = config.split("device-names: ")[1].splitlines()[0]
        opened = self.at.get(path, ("nothing", 0))[0]
        if checks and opened != expected:
            raise StartRefusedError(f"{path}: expected drive {expected}, found {opened}")
        self.loaded.append(opened)

    def _before(self, question):
        if question in self.renames_before and self.rng.random() < 0.5:
            self.rename()


def bound_on(host):
    path = host.rng.choice(sorted(host.at))
    drive_key, size_bytes = host.at[path]
    device = Device(host=Host(name="lab-1"), path=path, drive_key=drive_key, size_bytes=size_bytes)
    return Dispatch(device=device, drive_key=drive_key, nx_load=Decimal(1), duration_s=60)


def go(host, dispatch, checks):
    """Start a run as the register does. A refusal and an unknown device start nothing."""
    try:
        if not objections_to_start(dispatch, identify_device(dispatch.device, host)):
            host.start(STORAGE.config_text(dispatch), dispatch.drive_key, checks)
    except HostError:
        return


@pytest.mark.parametrize("change", ["rename", "lose", "nothing"])
def test_changes_since_the_order_misdirect_no_load_even_if_the_host_checks_nothing(change):
    started = 0
    for seed in range(INVENTORIES):
        host = RenamingHost(random.Random(seed))  # noqa: S311
        dispatch = bound_on(host)
        if change == "rename":
            host.rename()
        if change == "lose":
            host.lose(dispatch.drive_key)
        go(host, dispatch, checks=False)
        assert set(host.loaded) <= {dispatch.drive_key}, seed
        started += len(host.loaded)
    assert (started == 0) if change == "lose" else (started > INVENTORIES // 2)


def test_names_that_change_between_any_two_requests_misdirect_no_load():
    started = 0
    for seed in range(INVENTORIES):
        host = RenamingHost(random.Random(seed), ("identify", "find", "start"))  # noqa: S311
        dispatch = bound_on(host)
        go(host, dispatch, checks=True)
        assert set(host.loaded) <= {dispatch.drive_key}, seed
        started += len(host.loaded)
    assert started > 0


def test_a_device_follows_its_drive_to_its_new_path(device, fake):
    fake.drives["/dev/fake7"] = fake.drives.pop("/dev/fake0")
    assert identify_device(device, fake).drive_key == device.drive_key
    device.refresh_from_db()
    assert device.path == "/dev/fake7"


def test_a_drive_under_two_names_is_refused(device, fake):
    moved = fake.drives.pop("/dev/fake0")
    fake.drives |= {"/dev/fake7": moved, "/dev/fake8": moved}
    fake.add_drive("/dev/fake0", "loop:1:9")
    assert identify_device(device, fake).drive_key == "loop:1:9"
    device.refresh_from_db()
    assert device.path == "/dev/fake0"


@pytest.mark.parametrize(
    ("bound", "found", "may_be"),
    [
        ("/dev/nvme0n1p3", "/dev/nvme1n1p3", True),
        ("/dev/nvme0n1p3", "/dev/nvme0n1p4", False),
        ("/dev/nvme0n1", "/dev/nvme1n1p1", False),
        ("/dev/nvme0n1", "/dev/nvme1n1", True),
        ("/dev/nvme0n1", "/dev/nvme0n2", False),
        ("/dev/nvme0n1p3", "/dev/nvme0n2p3", False),
        ("/dev/sda", "/dev/sdaa", True),
        ("/dev/sda1", "/dev/sdab1", True),
        ("/dev/sda1", "/dev/sdb2", False),
        ("/dev/loop0", "/dev/loop17", True),
        ("/dev/loop0p1", "/dev/loop1p2", False),
        ("/dev/mmcblk0", "/dev/mmcblk1", True),
        ("/dev/disk/by-id/nvme-M_S1-part3", "/dev/nvme1n1p3", True),
        ("/dev/disk/by-id/nvme-M_S1-part3", "/dev/nvme1n1p4", False),
        ("/dev/disk/by-id/nvme-M_S1", "/dev/nvme1n2", True),
    ],
)
def test_a_renamed_drive_is_distinguished_from_another_part_of_it(bound, found, may_be):
    assert is_same_part(bound, found) is may_be
    assert is_same_part(found, bound) is may_be


def test_a_device_without_its_partition_does_not_become_another_one_of_the_same_size(device, fake):
    Device.objects.filter(pk=device.pk).update(path="/dev/nvme0n1p3")
    device.refresh_from_db()
    fake.drives["/dev/nvme0n1p4"] = fake.drives.pop("/dev/fake0")
    with pytest.raises(DeviceUnknownError):
        identify_device(device, fake)
    assert Device.objects.get().path == "/dev/nvme0n1p3"


def test_a_missing_drive_is_reported_with_the_remedy(device, fake):
    del fake.drives["/dev/fake0"]
    away = "local does not find drive loop:1:2, last seen at /dev/fake0 (/dev/fake0: no such device); attach it"
    with pytest.raises(DeviceUnknownError, match=re.escape(away)):
        identify_device(device, fake)
    moved = Identity("/dev/fake7", "virtual", "loop:1:2", device.size_bytes)
    fake.drives |= {"/dev/fake7": moved, "/dev/fake8": moved}
    with pytest.raises(DeviceUnknownError, match=r"^/dev/fake0: no such device$"):
        identify_device(device, fake)


@pytest.mark.parametrize("is_checked_first", [True, False])
def test_a_dispatch_whose_drive_was_renamed_since_the_order_names_both_paths(dispatch, connect, fake, is_checked_first):
    fake.drives["/dev/fake7"] = fake.drives.pop("/dev/fake0")
    if is_checked_first:
        follow_drive(dispatch.device, ["/dev/fake7"])
    poll(dispatch.pk, connect)
    reason = dispatch.steps.get(to_state=State.PREPARING).reason
    assert reason == "the drive was at /dev/fake0 when the run was ordered, and is at /dev/fake7 now"


def test_a_dispatch_whose_drive_kept_its_name_names_no_paths(new_dispatch, device, connect, fake):
    fake.drives["/dev/fake7"] = fake.drives.pop("/dev/fake0")
    follow_drive(device, ["/dev/fake7"])
    dispatch = new_dispatch()
    poll(dispatch.pk, connect)
    assert dispatch.steps.get(to_state=State.PREPARING).reason == ""
