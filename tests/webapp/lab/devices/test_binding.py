from decimal import Decimal
from pathlib import Path

import pytest

from results.models import Event
from runners.dispatch.orders import Order, order
from runners.hosts.protocol import Identity
from runners.models import Device, Host
from tests.runners.ssh_host import HEALTH, agent_host, ssh_host
from webapp.lab.devices import commands
from webapp.lab.devices.forms import DeviceForm, default_label

pytestmark = pytest.mark.django_db

FIND, BIND = "/lab/hosts/local/devices/add/", "/lab/hosts/local/devices/bind/"


@pytest.fixture
def host(db, drivetest):
    return Host.objects.create(name="local", kind="local")


@pytest.fixture
def found(host, lab_client, tmp_path):
    """The page that shows a new file, and the values of its form."""
    path = tmp_path / "drive.img"
    answer = lab_client.post(FIND, {"path": path, "create_mib": "64", "label": ""})
    return answer, dict(answer.context["form"].initial)


def test_a_file_is_created_shown_and_bound(found, lab_client):
    answer, shown = found
    assert Path(shown["path"]).stat().st_size == 64 * 1024 * 1024
    assert shown["drive_key"] in answer.text
    lab_client.post(BIND, shown)
    device = Device.objects.get()
    assert (device.drive_key, device.identity_kind, device.label) == (shown["drive_key"], "virtual", "drive.img")
    assert Event.objects.get(kind="device-bound").details["path"] == shown["path"]


def test_an_existing_file_is_not_created_again(found, lab_client):
    _, shown = found
    Path(shown["path"]).write_bytes(b"precious")
    answer = lab_client.post(FIND, {"path": shown["path"], "create_mib": "64"})
    assert "exists already and was not changed" in answer.text
    assert Path(shown["path"]).read_bytes() == b"precious"


def test_a_path_that_names_another_drive_at_the_confirmation_is_not_bound(found, lab_client):
    _, shown = found
    path = Path(shown["path"])
    path.rename(path.with_suffix(".old"))
    path.write_bytes(bytes(64 * 1024 * 1024))
    assert "No device was added" in lab_client.post(BIND, shown, follow=True).text
    assert not Device.objects.exists()


def test_reasons_against_writing_are_shown(host, lab_client, tmp_path):
    path = tmp_path / "odd.img"
    path.write_bytes(bytes(64 * 1024 * 1024 + 512))
    text = lab_client.post(FIND, {"path": path}).text
    assert "must not be written to" in text
    assert "The device cannot be added" in text
    assert "Add this device" not in text


def test_a_file_with_data_is_not_bound(found, lab_client):
    _, shown = found
    with Path(shown["path"]).open("r+b") as stream:
        stream.seek(1024 * 1024 - 1)
        stream.write(b"x")
    assert "found data" in lab_client.post(FIND, {"path": shown["path"]}).text
    assert "found data" in lab_client.post(BIND, shown, follow=True).text
    assert not Device.objects.exists()


def test_a_bound_file_may_have_data_of_runs(found, lab_client):
    _, shown = found
    lab_client.post(BIND, shown)
    with Path(shown["path"]).open("r+b") as stream:
        stream.write(b"x")
    assert "This device can be overwritten" in lab_client.post(FIND, {"path": shown["path"]}).text


def test_files_of_the_register_are_not_devices(host, lab_client, settings, tmp_path):
    settings.DATA_DIR = tmp_path / "data"
    settings.DATA_DIR.mkdir()
    path = settings.DATA_DIR / "log.gz"
    path.write_bytes(bytes(64 * 1024 * 1024))
    (tmp_path / "link").symlink_to(settings.DATA_DIR)
    for named in (path, tmp_path / "link" / "log.gz"):
        assert "data directory" in lab_client.post(FIND, {"path": named}).text


def test_adding_a_bound_drive_again_does_not_rename_it(found, lab_client):
    _, shown = found
    lab_client.post(BIND, shown)
    device = Device.objects.get()
    message = f'already the device <a href="/lab/devices/{device.pk}/">drive.img</a>'
    page = lab_client.post(FIND, {"path": shown["path"], "label": "another"}).text
    assert message in page
    assert "Add this device" not in page
    assert message in lab_client.post(BIND, shown | {"label": "another"}, follow=True).text
    assert Device.objects.get().label == "drive.img"


def test_adding_a_bound_drive_under_another_path_keeps_its_label(found, lab_client):
    _, shown = found
    lab_client.post(BIND, shown | {"label": "bench 3"})
    again = lab_client.post(FIND, {"path": shown["path"]})
    assert again.context["form"].initial["label"] == "bench 3"
    assert "its path and size are updated" in again.text
    assert "was added" in lab_client.post(BIND, dict(again.context["form"].initial), follow=True).text


def other_found(lab_client, path, label=""):
    return lab_client.post(FIND, {"path": path, "create_mib": "64", "label": label})


def test_no_two_drives_of_a_host_have_the_same_label(found, lab_client, tmp_path):
    """The label confirms that a drive is overwritten, so it must be unique."""
    _, shown = found
    lab_client.post(BIND, shown | {"label": "bay-1"})
    other = other_found(lab_client, tmp_path / "other.img", "Bay-1")
    message = f"The label bay-1 is already used on host local for {shown['path']}"
    assert message in other.text
    form = dict(other_found(lab_client, tmp_path / "other.img").context["form"].initial)
    assert message in lab_client.post(BIND, form | {"label": "bay-1"}, follow=True).text
    assert Device.objects.count() == 1
    lab_client.post(BIND, form | {"label": "bay-2"})
    second = Device.objects.get(label="bay-2")
    renamed = lab_client.post(f"/lab/devices/{second.pk}/label/", {"label": "bay-1"}, follow=True).text
    assert "The label was not changed. " in renamed
    assert message in renamed
    second.refresh_from_db()
    assert second.label == "bay-2"


def test_a_drive_of_another_host_may_have_the_same_label(found, lab_client):
    _, shown = found
    Device.objects.create(host=ssh_host(), label="bay-1", identity_kind="nvme", identity={}, drive_key="nvme:M:S",
                          path="/dev/nvme0n1", size_bytes=1)  # fmt: skip
    lab_client.post(BIND, shown | {"label": "bay-1"})
    assert Device.objects.filter(label="bay-1").count() == 2


def test_a_drive_without_a_name_gets_an_unused_label(found, lab_client, tmp_path):
    _, shown = found
    lab_client.post(BIND, shown)
    (tmp_path / "second").mkdir()
    other = other_found(lab_client, tmp_path / "second" / "drive.img")
    assert other.context["form"].initial["label"] == "drive.img 2"


def test_two_drives_of_one_model_are_labelled_by_serial_number(host):
    def drive(serial):
        return Identity(
            "/dev/nvme0n1", "nvme", f"nvme:P5510:{serial}", 1, document={"model": "P5510", "serial": serial}
        )

    assert default_label(host, drive("S1")) == "P5510"
    Device.objects.create(host=host, label="P5510", identity_kind="nvme", identity={}, drive_key="nvme:P5510:S1",
                          path="/dev/nvme0n1", size_bytes=1)  # fmt: skip
    assert default_label(host, drive("S2")) == "P5510 S2"


def test_a_bound_drive_keeps_its_path_during_an_order(found, lab_client, a_lab, staff):
    _, shown = found
    lab_client.post(BIND, shown)
    device = Device.objects.get()
    order(device, a_lab, Order(Decimal(1), 60, 10), staff)
    link = Path(shown["path"]).with_name("link.img")
    link.symlink_to(shown["path"])
    page = lab_client.post(FIND, {"path": link}).text
    assert f"cannot become {link} of" in page
    assert "Add this device" not in page
    assert (
        "No device was added: drive.img on local is" in lab_client.post(BIND, shown | {"path": link}, follow=True).text
    )
    assert Device.objects.get().path == device.path


def test_recognised_data_is_shown_before_the_device_is_added(found, lab_client):
    """The magic number of ext2, ext3 and ext4 at its place: Linux, fs/ext4/ext4.h."""
    _, shown = found
    with Path(shown["path"]).open("r+b") as stream:
        stream.truncate(0)
        stream.truncate(64 * 1024 * 1024)
        stream.seek(0x438)
        stream.write(b"\x53\xef")
    Device.objects.create(host=Host.objects.get(), label="drive.img", identity_kind="virtual", identity={},
                          drive_key=shown["drive_key"], path=shown["path"], size_bytes=1)  # fmt: skip
    text = lab_client.post(FIND, {"path": shown["path"]}).text
    assert "This device can be overwritten" not in text
    assert text.index("ext2, ext3 or ext4 file system") < text.index("Add this device")


@pytest.mark.parametrize("remote_host", [ssh_host, agent_host])
def test_a_drive_of_a_remote_host_is_identified_and_bound(lab_client, fake, monkeypatch, remote_host):
    monkeypatch.setattr(commands, "connect", lambda _host: fake)
    host = remote_host(health=HEALTH | {"drives": ["nvme:M:S1"]})
    fake.add_drive("/dev/nvme0n1", "nvme:M:S1")
    page = lab_client.post("/lab/hosts/lab-1/devices/add/", {"path": "/dev/nvme0n1", "label": "far 1"})
    lab_client.post("/lab/hosts/lab-1/devices/bind/", page.context["form"].initial)
    device = host.devices.get()
    assert (device.label, device.drive_key) == ("far 1", "nvme:M:S1")
    assert f"/lab/devices/{device.pk}/order/" in lab_client.get("/lab/hosts/lab-1/").text


@pytest.mark.parametrize("kind", ["local", "ssh", "agent"])
def test_a_plain_file_is_offered_only_if_the_host_accepts_one(lab_client, kind):
    Host.objects.create(name="local", kind="local")
    ssh_host("ssh")
    agent_host("agent")
    text = lab_client.get(f"/lab/hosts/{kind}/devices/add/").text
    assert ("plain file" in text, 'name="create_mib"' in text) == (kind == "local", kind == "local")


def test_a_missing_path_is_an_error_of_its_field(host, lab_client, tmp_path):
    answer = lab_client.post(FIND, {"path": tmp_path / "none"})
    assert "none" in answer.context["form"].errors["path"][0]


def test_an_incomplete_confirmation_binds_nothing(host, lab_client):
    assert "No device was added" in lab_client.post(BIND, {"path": "/dev/fake0"}, follow=True).text
    assert not Device.objects.exists()


@pytest.mark.parametrize(
    "path", ["drive.img", "/srv/a b", "/srv/a,b", "/srv/a;b", "/srv/a#b", "/srv/a\nb", "/" + "a" * 127]
)
def test_a_path_that_a_configuration_of_act_cannot_have_is_refused(path):
    assert "path" in DeviceForm({"path": path}).errors


@pytest.mark.parametrize("path", ["/dev/nvme0n1", "/dev/disk/by-path/pci-0000:00:1f.2-ata-1", "/" + "a" * 126])
def test_a_device_path_is_accepted(path):
    assert DeviceForm({"path": path}).is_valid()


@pytest.mark.parametrize("directory", ["/dev", "/proc", "/sys"])
def test_no_file_is_created_in_directories_of_the_kernel(directory):
    assert "path" in DeviceForm({"path": f"{directory}/drive.img", "create_mib": 64}).errors


@pytest.mark.parametrize(("size_mib", "is_taken"), [(7, False), (8, True)])
def test_a_file_has_the_minimum_size_of_a_device(size_mib, is_taken):
    assert DeviceForm({"path": "/srv/drive.img", "create_mib": size_mib}).is_valid() is is_taken
