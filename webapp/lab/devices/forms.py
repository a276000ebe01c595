"""Forms of a device, and the rule that no two drives of a host have the same label."""

from itertools import chain, count
from typing import Any

from django import forms
from django.core.validators import RegexValidator
from django.db.models import QuerySet

from runners.errors import RequestRefusedError
from runners.hosts.protocol import Identity
from runners.inventory.safety import MIB_BYTES, MIN_DEVICE_BYTES
from runners.models import Device, Host

# In ACT's configuration, commas, semicolons and blanks separate devices, and # begins a comment. ACT 6.x accepts 127
# characters.
PATH_CHARS_MAX = 127
ABSOLUTE_PATH = RegexValidator(
    r"^/[^\s,;#]+\Z", "Enter an absolute path without blanks, commas, semicolons or #, for example /dev/nvme0n1."
)
KERNEL_FOLDERS = ("/dev/", "/proc/", "/sys/")
MIN_FILE_MIB = MIN_DEVICE_BYTES // MIB_BYTES
INTEGER_MAX = 2**31 - 1


class DeviceForm(forms.Form):
    """The path of a device; with a size, a plain file is created there."""

    path = forms.CharField(
        max_length=PATH_CHARS_MAX,
        validators=[ABSOLUTE_PATH],
        help_text="Path of the device on the host: a block device, a loop or zram device, or a plain file.",
    )
    create_mib = forms.IntegerField(
        label="Create a file of this size, MiB",
        required=False,
        min_value=MIN_FILE_MIB,
        max_value=INTEGER_MAX // MIB_BYTES * 1024,
        help_text="The register creates the file only if the path does not exist. It changes no existing file.",
    )
    label = forms.CharField(
        max_length=100,
        required=False,
        help_text="Your name for the device. Default: the model of the drive or the name of the file.",
    )

    def __init__(self, *args: Any, host: Host | None = None, **more: Any) -> None:
        """Remove the file size for a remote host, which refuses plain files."""
        super().__init__(*args, **more)
        if host is not None and host.is_remote:
            del self.fields["create_mib"]
            self.fields["path"].help_text = "Path of a block device under /dev on the host."

    def clean(self) -> dict[str, Any]:
        """Refuse to create files in the folders of the kernel."""
        cleaned = super().clean() or {}
        if cleaned.get("create_mib") and cleaned.get("path", "").startswith(KERNEL_FOLDERS):
            self.add_error("path", "Files cannot be created in /dev, /proc or /sys. Enter a path on a disk.")
        return cleaned


class BindForm(forms.Form):
    """The device that the confirmation page showed."""

    path = forms.CharField(max_length=PATH_CHARS_MAX, validators=[ABSOLUTE_PATH], widget=forms.HiddenInput)
    drive_key = forms.CharField(max_length=255, widget=forms.HiddenInput)
    label = forms.CharField(max_length=100)


class LabelForm(forms.Form):
    """A new label of a device."""

    label = forms.CharField(max_length=100)


class LabelTakenError(RequestRefusedError):
    """Another drive of the host already has the label."""

    code = "label-taken"


def require_free_label(host: Host, label: str, device: Device | None = None) -> None:
    """Raise LabelTakenError if another drive of the host has the label; upper and lower case are equal."""
    if (other := _devices_with_label(host, label).exclude(pk=device.pk if device else 0).first()) is not None:
        raise LabelTakenError(
            f"The label {other.label} is already used on host {host} for {other.path} ({other.drive_key}). The label "
            "is typed to confirm that a drive is overwritten, so it must be unique on the host. Choose another label."
        )


def default_label(host: Host, identity: Identity) -> str:
    """Return a free label for a drive: its model or file name, if necessary with its serial number or a count."""
    name = str(identity.document.get("model") or identity.path.rsplit("/", 1)[-1]).strip()
    serial = identity.document.get("serial")
    candidates = chain([name], [f"{name} {serial}"] if serial else [], (f"{name} {number}" for number in count(2)))
    return next(label for label in candidates if not _devices_with_label(host, label).exists())


def _devices_with_label(host: Host, label: str) -> QuerySet[Device]:
    return host.devices.filter(label__iexact=label.strip())
