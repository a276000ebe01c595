"""Commands on devices, for the pages and the API: identify, bind, refresh, rename. Each refusal has a code."""

from dataclasses import dataclass

from django.db import transaction

from results.history import record_event
from runners.errors import RequestRefusedError
from runners.hosts import connect
from runners.hosts.drive_keys import keys_of
from runners.hosts.protocol import Identity
from runners.inventory.devices import RefreshRefusedError, bind, objection_to_path_change, refresh_identity
from runners.inventory.safety import MIB_BYTES, SIGNATURE, is_signature_reported, objections_to_binding
from runners.inventory.service_state import OutOfServiceError, out_of_service, retired_message
from runners.models import Device, Host
from runners.retention import retirement
from webapp.accounts.models import User
from webapp.lab.devices.forms import default_label, require_free_label
from webapp.lab.shared.drive_status import binding_warnings
from webapp.lab.shared.drive_warnings import DriveWarning


class BoundAlreadyError(RequestRefusedError):
    """The drive is a device with another label already. `device` is that device."""

    code = "bound-already"

    def __init__(self, device: Device) -> None:
        super().__init__(f"this drive is already the device {device.label}. Rename it on its page.")
        self.device = device


@dataclass(frozen=True)
class FoundDevice:
    """A device that a host identified, and what a person sees before it is bound.

    `objections` state why it cannot be bound. `known` is the device that its drive is bound as.
    """

    identity: Identity
    label: str
    objections: list[str]
    warnings: list[DriveWarning]
    known: Device | None
    moving_objection: str

    @property
    def is_renaming(self) -> bool:
        """Whether the drive is bound with another label."""
        return self.known is not None and self.known.label != self.label


def identify(host: Host, path: str, label: str = "", create_mib: int | None = None) -> FoundDevice:
    """Return the device at a path of a host; with a size, create a plain file there first.

    Raises HostError if the host cannot identify it, LabelTakenError, and OutOfServiceError for a retired host.
    """
    if retired := retired_message(host):
        raise OutOfServiceError(f"Host {host} is {retired}. Return it to service before you add a device.")
    lab_host = connect(host)
    if create_mib:
        require_free_label(host, label)
        lab_host.create_file(path, create_mib * MIB_BYTES)
    identity = lab_host.identify(path)
    known = _bound_device(host, identity)
    label = label or (known.label if known else default_label(host, identity))
    require_free_label(host, label, known)
    is_in_use = SIGNATURE in identity.document and not is_signature_reported(identity.document)
    return FoundDevice(
        identity=identity,
        label=label,
        objections=objections_to_binding(host, lab_host, identity),
        warnings=binding_warnings(host, identity.path, identity.drive_key, identity.document, is_in_use=is_in_use),
        known=known,
        moving_objection=objection_to_path_change(known, identity) if known else "",
    )


def bind_confirmed(host: Host, path: str, drive_key: str, label: str, actor: User) -> Device:
    """Bind the device that a person saw, after the host has identified it again: the path may have changed.

    Raises RequestRefusedError or HostError if it must not be bound.
    """
    lab_host = connect(host)
    identity = lab_host.identify(path)
    if identity.drive_key != drive_key:
        raise RequestRefusedError(
            f"{identity.path} was drive {drive_key} on the page and is now drive {identity.drive_key}. "
            "Identify the path again.",
            "location-changed",
        )
    if objections := objections_to_binding(host, lab_host, identity):
        raise RequestRefusedError("; ".join(objections), "not-writable")
    known = _bound_device(host, identity)
    if known is not None and known.label != label:
        raise BoundAlreadyError(known)
    require_free_label(host, label, known)
    return bind(host, identity, label, actor)


def _bound_device(host: Host, identity: Identity) -> Device | None:
    """Return the device of this host that has this drive; None if there is none."""
    return host.devices.filter(drive_key__in=keys_of(identity.drive_key)).order_by("pk").first()


def refresh(device: Device, actor: User) -> None:
    """Update the identity and the recognised data of a device from its host.

    Raises RefreshRefusedError, and HostError if the host cannot identify the device.
    """
    if retired := out_of_service(device):
        raise RefreshRefusedError(retired, OutOfServiceError.code)
    refresh_identity(device, connect(device.host), actor)


def rename(device: Device, label: str, actor: User) -> bool:
    """Give a device another label, and return whether it had another one. Raises LabelTakenError."""
    before = device.label
    require_free_label(device.host, label, device)
    if before == label:
        return False
    with transaction.atomic():
        Device.objects.filter(pk=device.pk).update(label=label)
        details = {"label": label, "before": before}
        record_event(actor, "device-renamed", ("device", str(device.pk)), details=details)
    device.label = label
    return True


def restore_device(device: Device, actor: User) -> None:
    """Return a device to service. Raises RequestRefusedError if it is in service."""
    if not retirement.return_to_service(device, actor):
        raise RequestRefusedError(f"Device {device} is already in service.", "in-service")
