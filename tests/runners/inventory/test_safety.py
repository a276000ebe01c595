import pytest

from runners.hosts.protocol import Identity
from runners.inventory.safety import MIN_DEVICE_BYTES, objections_to_device, objections_to_start
from runners.models import Device, Dispatch
from runners.models.dispatch import CONSENT_OPTION

MIB = 1024 * 1024


def seen(path="/dev/loop0", drive_key="loop:1:2", size_bytes=64 * MIB, refusals=(), **document):
    return Identity(path, "virtual", drive_key, size_bytes, refusals, document)


def dispatch_for(identity, **options):
    device = Device(path=identity.path, size_bytes=identity.size_bytes)
    return Dispatch(device=device, drive_key=identity.drive_key, options=options)


@pytest.mark.parametrize(("kind", "may"), [("nvme", True), ("scsi", True), ("cloud", True), ("virtual", False)])
def test_a_virtual_device_never_certifies(kind, may):
    assert Device(identity_kind=kind).may_certify is may


def test_a_device_without_refusals_is_free():
    assert objections_to_device(seen()) == []


def test_the_refusals_of_the_host_apply():
    assert objections_to_device(seen(refusals=("mounted", "swap"))) == ["mounted", "swap"]


@pytest.mark.parametrize(("size_bytes", "objected"), [(MIN_DEVICE_BYTES, False), (MIN_DEVICE_BYTES - 1, True)])
def test_a_device_has_a_least_size(size_bytes, objected):
    assert bool(objections_to_device(seen(size_bytes=size_bytes))) is objected


@pytest.mark.parametrize(
    ("path", "size_bytes", "objected"),
    [("/srv/f.img", 64 * MIB, False), ("/srv/f.img", 64 * MIB + 512, True), ("/dev/loop0", 64 * MIB + 512, False)],
)
def test_a_plain_file_is_whole_mebibytes(path, size_bytes, objected):
    assert bool(objections_to_device(seen(path, size_bytes=size_bytes))) is objected


def test_the_bound_drive_may_start():
    assert objections_to_start(dispatch_for(seen()), seen()) == []


def test_another_drive_at_the_path_may_not_start():
    assert "found loop:1:3" in objections_to_start(dispatch_for(seen()), seen(drive_key="loop:1:3"))[0]


@pytest.mark.parametrize("difference", [-MIB, MIB])
def test_a_drive_of_another_size_may_not_start(difference):
    assert (
        "expected 67108864 bytes"
        in objections_to_start(dispatch_for(seen()), seen(size_bytes=64 * MIB + difference))[0]
    )


@pytest.mark.parametrize(
    ("consented", "found", "objected"),
    [
        ("an XFS file system", "an XFS file system", ""),
        (
            "a partition table",
            "an XFS file system",
            "expected a partition table, which the order may write over, found",
        ),
        ("a partition table", None, ""),
        (True, "an XFS file system", "expected data that the order did not record"),
        (True, None, ""),
        (None, "an XFS file system", ""),
    ],
)
def test_a_consent_is_for_the_data_that_was_shown(consented, found, objected):
    options = {} if consented is None else {CONSENT_OPTION: consented}
    objections = " ".join(objections_to_start(dispatch_for(seen(), **options), seen(signature=found)))
    assert objected in objections
    assert bool(objections) is bool(objected), "without a consent drivetest refuses what it recognises"
