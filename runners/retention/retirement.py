"""Taking hosts and devices out of service, and back: nothing of theirs is deleted, and nothing that is live is left.

A retired host is not checked, gets no work and has no doctor's warning; a retired device takes no order. Who did it and
why is an event, which the database refuses to change.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from results.rules.plural import counted
from runners.inventory.service_state import BACK, RETIRED, record, under_way
from runners.locks import hold_drive, hold_host
from runners.models import Device, Host
from runners.models.postgres import storable
from runners.retention.leftover_archive import unkept


class RetireError(ValueError):
    """It cannot be taken out of service, or back; the text says what stands against it, and the remedy."""


def retire_host(host: Host, actor: AbstractBaseUser, reason: str, *, gives_up_what_is_there: bool = False) -> None:
    """Take a host out of service. Raises RetireError where it is already, without a reason, and while anything is live.

    What runs left there that was not taken in is in no other place: unless `gives_up_what_is_there`, that counts too.
    """
    why = _reason(str(host), reason)
    with transaction.atomic():
        hold_host(host.pk)
        own = Q(device__host=host)
        left = [] if gives_up_what_is_there else list(_left_there(host))
        _refuse(str(host), [*under_way(own | Q(load_host=host), own), *left])
        given_up = [dispatch.public_id for dispatch in unkept(host)]
        _set(host, {"given_up": given_up} if given_up else {}, actor, why)


def retire_device(device: Device, actor: AbstractBaseUser, reason: str) -> None:
    """Take a device out of service. Raises RetireError where it is already, without a reason, and while used.

    Its run directories go on being removed, for its host is in service.
    """
    why = _reason(device.label, reason)
    with transaction.atomic():
        hold_drive(device.drive_key)
        _refuse(str(device), under_way(Q(device=device), Q(device=device)))
        _set(device, {"drive_key": device.drive_key}, actor, why)


def take_host_back(host: Host, actor: AbstractBaseUser | None, reason: str = "") -> bool:
    """Take a host back into service and tell whether it was retired; over SSH it gets work after its next check."""
    unchecked: dict[str, Any] = {"checked_at": None, "next_check_at": Now(), "objections": [], "silent_checks": 0}
    with transaction.atomic():
        is_back = Host.objects.filter(pk=host.pk, retired_at__isnull=False).update(retired_at=None, **unchecked)
        if is_back:
            record(host, BACK, actor, reason)
    host.refresh_from_db()
    return bool(is_back)


def take_device_back(device: Device, actor: AbstractBaseUser, reason: str = "") -> bool:
    """Take a device back into service, with all that is known of it, and tell whether it was retired."""
    with transaction.atomic():
        is_back = Device.objects.filter(pk=device.pk, retired_at__isnull=False).update(retired_at=None)
        if is_back:
            record(device, BACK, actor, reason)
    device.refresh_from_db()
    return bool(is_back)


def _reason(name: str, reason: str) -> str:
    if not reason.strip():
        raise RetireError(f"{name} is not retired: expected why, got nothing; the history keeps it")
    return storable(reason.strip())


def _left_there(host: Host) -> Iterator[str]:
    """Yield what would be lost with a host: evidence that waits there to be kept, and is then removed."""
    left = list(unkept(host))
    if left:
        runs = ", ".join(dispatch.public_id for dispatch in left)
        yield (
            f"what {counted(len(left), 'run')} left there ({runs}) is not kept here yet: wait until it was removed "
            "from there, or say that it is given up"
        )


def _refuse(name: str, objections: Iterable[str]) -> None:
    if found := list(objections):
        raise RetireError(f"{name} is not retired: {'; '.join(found)}")


def _set(subject: Host | Device, details: dict[str, object], actor: AbstractBaseUser, reason: str) -> None:
    model = type(subject)
    if not model.objects.filter(pk=subject.pk, retired_at=None).update(retired_at=timezone.now()):
        raise RetireError(f"{subject} is retired already; nothing was changed")
    record(subject, RETIRED, actor, reason, details)
    subject.refresh_from_db()
