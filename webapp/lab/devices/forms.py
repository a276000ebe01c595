"""Forms of a device, and the rule that no two drives of a host have the same label."""

from itertools import chain, count
from typing import Any

from django import forms
from django.core.validators import RegexValidator
from django.db.models import QuerySet

from runners.hosts.protocol import Identity
from runners.inventory.safety import MIB_BYTES, MIN_DEVICE_BYTES
from runners.models import Device, Host

# A path goes into a configuration where commas, semicolons and blanks part devices and # begins a comment; ACT 6.x
# takes 127 characters.
PATH_CHARS_MAX = 127
ABSOLUTE_PATH = RegexValidator(
    r"^/[^\s,;#]+\Z", "Expected an absolute path without blanks, commas, semicolons or #, such as /dev/nvme0n1."
)
NO_FILES_IN = ("/dev/", "/proc/", "/sys/")
LEAST_FILE_MIB = MIN_DEVICE_BYTES // MIB_BYTES
INTEGER_MAX = 2**31 - 1


class DeviceForm(forms.Form):
    """Where a device is; a size creates a plain file there."""

    path = forms.CharField(
        max_length=PATH_CHARS_MAX,
        validators=[ABSOLUTE_PATH],
        help_text="As the host sees it: a block device, a loop or zram device, or a plain file.",
    )
    create_mib = forms.IntegerField(
        label="Create a file of this size, MiB",
        required=False,
        min_value=LEAST_FILE_MIB,
        max_value=INTEGER_MAX // MIB_BYTES * 1024,
        help_text="Only where nothing is at the path yet. An existing file is left as it is.",
    )
    label = forms.CharField(
        max_length=100, required=False, help_text="What you call it. Empty: its model or file name."
    )

    def __init__(self, *args: Any, host: Host | None = None, **more: Any) -> None:
        """Offer no plain file on a host over SSH: it refuses them (docs/lab.md)."""
        super().__init__(*args, **more)
        if host is not None and host.kind == Host.Kind.SSH:
            del self.fields["create_mib"]
            self.fields["path"].help_text = "As the host sees it: a block device under /dev."

    def clean(self) -> dict[str, Any]:
        """Refuse to make files where the kernel keeps its own."""
        cleaned = super().clean() or {}
        if cleaned.get("create_mib") and cleaned.get("path", "").startswith(NO_FILES_IN):
            self.add_error("path", "Files are not created in /dev, /proc or /sys. Name a directory on a disk.")
        return cleaned


class BindForm(forms.Form):
    """What was shown to the person who confirms it."""

    path = forms.CharField(max_length=PATH_CHARS_MAX, validators=[ABSOLUTE_PATH], widget=forms.HiddenInput)
    drive_key = forms.CharField(max_length=255, widget=forms.HiddenInput)
    label = forms.CharField(max_length=100)


class LabelForm(forms.Form):
    """What a device is called."""

    label = forms.CharField(max_length=100)


class LabelTakenError(Exception):
    """Another drive of the host has the label; the text says which."""


def refuse_taken(host: Host, label: str, device: Device | None = None) -> None:
    """Raise LabelTakenError where a drive of the host other than `device` has a label, in whatever case."""
    if (other := _named(host, label).exclude(pk=device.pk if device else 0).first()) is not None:
        raise LabelTakenError(
            f"{host} has another drive called {other.label}, {other.path} ({other.drive_key}). The label is what is "
            "typed before a drive is written over: expected one that no other drive of the host has."
        )


def first_free_label(host: Host, identity: Identity) -> str:
    """Return what a drive is called where nobody says: its model or file name, with its serial or a number if taken."""
    name = str(identity.document.get("model") or identity.path.rsplit("/", 1)[-1]).strip()
    serial = identity.document.get("serial")
    wanted = chain([name], [f"{name} {serial}"] if serial else [], (f"{name} {number}" for number in count(2)))
    return next(label for label in wanted if not _named(host, label).exists())


def _named(host: Host, label: str) -> QuerySet[Device]:
    return host.devices.filter(label__iexact=label.strip())
