"""Asking again what a bound drive is and holds, because a person has changed something there: has wiped it, say."""

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.db.models import Q

from results.models import Event
from runners.hosts.protocol import LabHost
from runners.inventory.device_lookup import is_bound, look_up
from runners.locks import hold_drive
from runners.models import UNCONFIRMED, Device, Dispatch
from runners.models.states import LIVE

LOOKED_AGAIN = "device-looked-at-again"


class LookAgainError(ValueError):
    """What is known of a drive stays as it was; the text says why, and the remedy."""


def look_again(device: Device, host: LabHost, actor: AbstractBaseUser) -> None:
    """Keep what a host tells of a device's drive now; the device follows a drive that has another name.

    Raises LookAgainError while a run may be on the drive, and where the drive is in use, another one, or of another
    size: nobody can tell then what the bound one holds. Raises HostError where the host gives no answer.
    """
    _check_nothing_runs(device)
    identity = look_up(device, host)
    if not is_bound(device, identity) or identity.size_bytes != device.size_bytes:
        raise LookAgainError(
            f"{identity.path}: expected drive {device.drive_key} of {device.size_bytes} bytes, found "
            f"{identity.drive_key} of {identity.size_bytes} bytes; add the device again"
        )
    if identity.refusals:
        raise LookAgainError(f"what it holds was not looked at: {'; '.join(identity.refusals)}")
    with transaction.atomic():
        hold_drive(device.drive_key)
        _check_nothing_runs(device)
        Device.objects.filter(pk=device.pk).update(identity=dict(identity.document))
        told = {"path": identity.path, "signature": identity.document.get("signature")}
        about = {"subject_type": "device", "subject_id": str(device.pk)}
        Event.objects.create(actor_id=actor.pk, kind=LOOKED_AGAIN, details=told, **about)
    device.refresh_from_db()


def _check_nothing_runs(device: Device) -> None:
    """Raise LookAgainError while a run is on the drive: it is in use, and a question would disturb what is measured."""
    may_run = Dispatch.objects.filter(Q(state__in=LIVE) | UNCONFIRMED, drive_key=device.drive_key)
    if (dispatch := may_run.first()) is not None:
        raise LookAgainError(f"{dispatch} is {dispatch.state} on it; look again when that has ended")
