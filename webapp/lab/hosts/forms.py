"""Forms that add a host over SSH and state its location."""

from typing import Any

from django import forms

from results.models.evidence import PLACE_CHARS
from runners.inventory.enrolment import Pins
from runners.inventory.service_state import retired_message
from runners.models import Host

PORT_MAX = 65_535


class HostForm(forms.Form):
    """The address, host key and program of a new host; the key and the program are pinned."""

    name = forms.SlugField(max_length=40, help_text="The name of the host in the register, for example lab-1.")
    address = forms.CharField(max_length=255, help_text="Host name or IP address.")
    port = forms.IntegerField(min_value=1, max_value=PORT_MAX, initial=22)
    user = forms.CharField(
        max_length=32, initial="drivecert", help_text="The account of the register on the host. Do not use root."
    )
    host_key = forms.CharField(
        max_length=2000,
        help_text="The output of `cat /etc/ssh/ssh_host_ed25519_key.pub` on the host.",
    )
    program_sha256 = forms.CharField(
        label="SHA-256 of drivetest", max_length=64, help_text="Default: the drivetest of this register."
    )

    def clean_name(self) -> str:
        """Refuse the name of an existing host; only `manage.py add_host --replace` changes what is pinned."""
        name: str = self.cleaned_data["name"]
        host = Host.objects.filter(name=name).first()
        if host is not None and (retired := retired_message(host)):
            raise forms.ValidationError(f"Host {name} is {retired}. Return it to service on its page.")
        if host is not None:
            raise forms.ValidationError(
                f"Host {name} already exists. To change what is pinned, use manage.py add_host --replace."
            )
        return name

    def clean(self) -> dict[str, Any]:
        """Refuse pins that cannot identify a host."""
        cleaned = super().clean() or {}
        if not self.errors:
            for field, sentence in self.pins().objections().items():
                self.add_error(field, sentence)
        return cleaned

    def pins(self) -> Pins:
        """Return the pins of the host."""
        names = ("address", "port", "user", "host_key", "program_sha256")
        return Pins(**{name: self.cleaned_data[name] for name in names})


class PlaceForm(forms.Form):
    """The location of a host, in the terms of its cloud provider."""

    region = forms.CharField(
        max_length=PLACE_CHARS, required=False, help_text="For example us-east-1. Leave empty if it does not apply."
    )
    zone = forms.CharField(max_length=PLACE_CHARS, required=False, help_text="For example us-east-1a.")
