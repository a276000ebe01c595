"""Retirement of hosts and devices, and their return to service. Nothing of theirs is deleted.

A retired host is not checked, gets no work and causes no warning of the doctor; a retired device gets no orders. The
person and the reason are an event, which the database refuses to change.
"""

from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from results.rules.plural import counted
from runners.errors import RequestRefusedError
from runners.inventory.service_state import RETIRED, RETURNED, blocking_work, record_service_event
from runners.models import Device, Host
from runners.models.postgres import lock_drive, lock_host
from runners.retention.leftover_archive import unarchived_on


class RetireError(RequestRefusedError):
    """A host or device cannot be retired or returned. The text gives the obstacle and the remedy."""

    code = "retirement-refused"


def retire_host(host: Host, actor: AbstractBaseUser, reason: str, *, abandons_leftovers: bool = False) -> None:
    """Retire a host. Raise RetireError if it is retired already, without a reason, and while work is open.

    Leftover files there that were not archived are stored nowhere else: unless `abandons_leftovers`, they count as an
    obstacle too.
    """
    with transaction.atomic():
        lock_host(host.pk)
        own = Q(device__host=host)
        objections = list(blocking_work(own | Q(load_host=host), own))
        given_up = [dispatch.public_id for dispatch in unarchived_on(host)]
        if given_up and not abandons_leftovers:
            objections.append(
                f"leftover files of {counted(len(given_up), 'run')} there ({', '.join(given_up)}) are not archived "
                "yet: wait until they are, or confirm that they are abandoned"
            )
        _retire(host, objections, {"given_up": given_up} if given_up else {}, actor, reason)


def retire_device(device: Device, actor: AbstractBaseUser, reason: str) -> None:
    """Retire a device. Raise RetireError if it is retired already, without a reason, and while it is used.

    Cleanup of its run directories continues, because its host is in service.
    """
    with transaction.atomic():
        lock_drive(device.drive_key)
        objections = list(blocking_work(Q(device=device), Q(device=device)))
        _retire(device, objections, {"drive_key": device.drive_key}, actor, reason)


def return_to_service(subject: Host | Device, actor: AbstractBaseUser | None, reason: str = "") -> bool:
    """Return a host or device to service, with all that is known of it, and return whether it was retired.

    An SSH host gets work after its next check.
    """
    columns: dict[str, Any] = {"retired_at": None}
    if isinstance(subject, Host):
        columns |= {"checked_at": None, "next_check_at": Now(), "objections": [], "silent_checks": 0}
    model: type[Host | Device] = type(subject)
    with transaction.atomic():
        is_back = model.objects.filter(pk=subject.pk, retired_at__isnull=False).update(**columns)
        if is_back:
            record_service_event(subject, RETURNED, actor, reason)
    subject.refresh_from_db()
    return bool(is_back)


def _retire(
    subject: Host | Device, objections: list[str], details: dict[str, Any], actor: AbstractBaseUser, reason: str
) -> None:
    """Retire a host or device and record who did it and why, unless there are objections or no reason."""
    obstacle = "; ".join(objections) if reason.strip() else "expected a reason, got nothing; it is part of the history"
    if obstacle:
        raise RetireError(f"{subject} is not retired: {obstacle}")
    model = type(subject)
    if not model.objects.filter(pk=subject.pk, retired_at=None).update(retired_at=timezone.now()):
        raise RetireError(f"{subject} is retired already; nothing was changed")
    record_service_event(subject, RETIRED, actor, reason, details)
    subject.refresh_from_db()
