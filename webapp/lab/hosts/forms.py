"""Forms of a host: its name or its pins, its location, and its maintenance."""

from typing import Any

from django import forms

from results.models.evidence import PLACE_CHARS
from runners.inventory.devices import LOCAL_NAME
from runners.inventory.enrolment import Pins
from runners.inventory.maintenance_windows import REASON_CHARS_MAX
from runners.inventory.service_state import retired_message
from runners.models import Host

PORT_MAX = 65_535


class AgentHostForm(forms.Form):
    """The name of a new host. Its agent states everything else when it joins."""

    name = forms.SlugField(max_length=40, help_text="The name of the host in the register, for example lab-1.")

    def clean_name(self) -> str:
        """Refuse the name of an existing host: another machine would take its place."""
        name: str = self.cleaned_data["name"]
        if name == LOCAL_NAME:
            raise forms.ValidationError(f"Expected another name: {name} is the register's own machine.")
        host = Host.objects.filter(name=name).first()
        if host is not None and (retired := retired_message(host)):
            raise forms.ValidationError(f"Host {name} is {retired}. Return it to service on its page.")
        if host is not None and host.kind == Host.Kind.AGENT:
            raise forms.ValidationError(f"Host {name} already exists. Print a new command on its page.")
        if host is not None:
            raise forms.ValidationError(
                f"Host {name} already exists. To change what is pinned, use manage.py add_host --replace."
            )
        return name


class HostForm(AgentHostForm):
    """The address, host key and program of a new host over SSH; the key and the program are pinned."""

    address = forms.CharField(max_length=255, help_text="Host name or IP address of the machine.")
    port = forms.IntegerField(min_value=1, max_value=PORT_MAX, initial=22)
    user = forms.CharField(
        max_length=32,
        initial="drivecert",
        help_text="The user name with which the register signs in to the host over SSH; not root.",
    )
    host_key = forms.CharField(
        max_length=2000,
        help_text="The public SSH key of the host: the output of `cat /etc/ssh/ssh_host_ed25519_key.pub` there.",
    )
    program_sha256 = forms.CharField(
        label="SHA-256 of drivetest",
        max_length=64,
        help_text="SHA-256 of the program drivetest on the host; by default, that of the register's own drivetest.",
    )

    def clean(self) -> dict[str, Any]:
        """Refuse pins that cannot identify a host."""
        cleaned = super().clean() or {}
        if not self.errors:
            for field, sentence in self.pins().objections().items():
                self.add_error(field, sentence)
        return cleaned

    def pins(self) -> Pins:
        """Return the pins of the host."""
        return Pins(**{name: self.cleaned_data[name] for name in Pins.__dataclass_fields__})


class PlaceForm(forms.Form):
    """The location of a host, in the terms of its cloud provider."""

    region = forms.CharField(
        max_length=PLACE_CHARS,
        required=False,
        help_text="Cloud region of the host, for example us-east-1. Leave empty if the host is not in a cloud.",
    )
    zone = forms.CharField(
        max_length=PLACE_CHARS, required=False, help_text="Cloud zone of the host, for example us-east-1a."
    )


class MaintenanceForm(forms.Form):
    """A maintenance window of a host, in UTC."""

    starts_at = forms.DateTimeField(
        label="Start, UTC",
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}),
        help_text="Default: now. A run whose ordered time would reach into the window does not start.",
    )
    ends_at = forms.DateTimeField(
        label="End, UTC",
        required=False,
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}),
        help_text="Default: open, until a person ends the maintenance.",
    )
    reason = forms.CharField(max_length=REASON_CHARS_MAX)
