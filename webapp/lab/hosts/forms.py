"""The forms that enrol a host over SSH, and that state where a host is."""

from typing import Any

from django import forms

from results.models.evidence import PLACE_CHARS
from runners.inventory.enrolment import Pins
from runners.inventory.service_state import retired_message
from runners.models import Host

PORT_MAX = 65_535


class HostForm(forms.Form):
    """What is pinned about a host."""

    name = forms.SlugField(max_length=40, help_text="What the register calls it, such as lab-1.")
    address = forms.CharField(max_length=255, help_text="Host name or IP address.")
    port = forms.IntegerField(min_value=1, max_value=PORT_MAX, initial=22)
    user = forms.CharField(max_length=32, initial="drivecert", help_text="The register's account there, not root.")
    host_key = forms.CharField(
        max_length=2000,
        help_text="As `cat /etc/ssh/ssh_host_ed25519_key.pub` prints it on the host itself.",
    )
    program_sha256 = forms.CharField(
        label="SHA-256 of its drivetest", max_length=64, help_text="That of the register's own program is filled in."
    )

    def clean_name(self) -> str:
        """Refuse a name that is taken; a host is pinned anew by `manage.py add_host`, not by a slip on a page."""
        name: str = self.cleaned_data["name"]
        host = Host.objects.filter(name=name).first()
        if host is not None and (retired := retired_message(host)):
            raise forms.ValidationError(f"Host {name} is {retired}. Take it back into service on its page.")
        if host is not None:
            raise forms.ValidationError(f"There is a host {name}. To pin it anew use manage.py add_host --replace.")
        return name

    def clean(self) -> dict[str, Any]:
        """Refuse what nobody could be known by."""
        cleaned = super().clean() or {}
        if not self.errors:
            for field, sentence in self.pins().objections().items():
                self.add_error(field, sentence)
        return cleaned

    def pins(self) -> Pins:
        """Return what was given."""
        names = ("address", "port", "user", "host_key", "program_sha256")
        return Pins(**{name: self.cleaned_data[name] for name in names})


class PlaceForm(forms.Form):
    """Where a host is, in its provider's words."""

    region = forms.CharField(max_length=PLACE_CHARS, required=False, help_text="Such as us-east-1. Empty: not stated.")
    zone = forms.CharField(max_length=PLACE_CHARS, required=False, help_text="Such as us-east-1a.")
