"""What is out of service, as it is asked and shown: since when, and why nothing is ordered there."""

from collections.abc import Iterator
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Q

from results.models import Event
from runners.locks import hold_drive, hold_host
from runners.models import UNCONFIRMED, Device, Dispatch, Host
from runners.models.campaign import Campaign
from runners.models.postgres import storable
from runners.models.states import FINAL

RETIRED, BACK = "retired", "back-in-service"
SUBJECT_ID_CHARS = 40  # of results.models.Event


class OutOfServiceError(ValueError):
    """What was asked for needs a host or device that is retired; the text says which, and the remedy."""


def retirement_of(subject: Host | Device) -> Event | None:
    """Return the event that tells who retired a host or device, and why; None while it is in service."""
    if subject.retired_at is None:
        return None
    told = Event.objects.filter(kind=f"{_type(subject)}-{RETIRED}", **_subject(subject))
    return told.select_related("actor").last()


def out_of_service(device: Device) -> str:
    """Say why nothing is ordered on a device because it or its host is retired; empty where neither is."""
    found = ((each, retired_words(each)) for each in (device, device.host))
    return next((_refusal(each, retired) for each, retired in found if retired), "")


def _refusal(subject: Host | Device, retired: str) -> str:
    return f"{_type(subject).capitalize()} {subject} is {retired}; take it back into service on its page first."


def retired_words(subject: Host | Device) -> str:
    """Return since when a host or device is out of service; empty while it is in service."""
    return "" if subject.retired_at is None else f"retired since {subject.retired_at:%-d %B %Y, %H:%M} UTC"


def returns_of(device: Device) -> Q:
    """Return which events took a device back into service, by itself or with its host."""
    device_back, host_back = (Q(kind=f"{_type(each)}-{BACK}", **_subject(each)) for each in (device, device.host))
    return device_back | host_back


def hold_in_service(device: Device, load_host: Host | None = None) -> None:
    """Hold a drive and its hosts as a claim does: nothing of them is retired or moved meanwhile.

    Raises OutOfServiceError, and ValueError where the device is another part of its drive since the caller read it.
    """
    hold_drive(device.drive_key)
    hosts = (host for host in (device.host, load_host) if host is not None)
    for host in sorted(hosts, key=lambda host: host.pk):
        hold_host_in_service(host)
    was = (device.path, device.size_bytes)
    device.refresh_from_db(fields=["retired_at", "path", "size_bytes"])
    if was != (device.path, device.size_bytes):
        raise ValueError(f"{device} was {was[0]} and is {device.path} by now; look again")
    if objection := out_of_service(device):
        raise OutOfServiceError(objection)


def hold_host_in_service(host: Host) -> None:
    """Hold a host to the end of the transaction: it is not retired meanwhile. Raises OutOfServiceError."""
    hold_host(host.pk)
    host.refresh_from_db(fields=["retired_at"])
    if retired := retired_words(host):
        raise OutOfServiceError(_refusal(host, retired))


def record(
    subject: Host | Device,
    what: str,
    actor: AbstractBaseUser | None,
    reason: str,
    details: dict[str, Any] | None = None,
) -> None:
    """Keep for good that somebody has taken a host or device out of service, or back."""
    Event.objects.create(
        actor_id=None if actor is None else actor.pk,
        kind=f"{_type(subject)}-{what}",
        reason=storable(reason.strip()),
        details=details or {},
        **_subject(subject),
    )


def _subject(subject: Host | Device) -> dict[str, str]:
    subject_id = subject.name[:SUBJECT_ID_CHARS] if isinstance(subject, Host) else str(subject.pk)
    return {"subject_type": _type(subject), "subject_id": subject_id}


def _type(subject: Host | Device) -> str:
    return "host" if isinstance(subject, Host) else "device"


def under_way(dispatches: Q, campaigns: Q) -> Iterator[str]:
    """Yield what is live among some dispatches and campaigns and where, each with its remedy."""
    for dispatch in Dispatch.objects.filter(dispatches).exclude(state__in=FINAL).select_related("device__host"):
        yield f"dispatch {dispatch} on {dispatch.device} is {dispatch.state}: cancel it, or wait for its end"
    for dispatch in Dispatch.objects.filter(dispatches).filter(UNCONFIRMED).select_related("device__host"):
        yield f"dispatch {dispatch} on {dispatch.device} was lost and may still run: say on its page that nothing does"
    for campaign in Campaign.objects.filter(campaigns, state__in=Campaign.OPEN_STATES).select_related("device__host"):
        yield f"campaign {campaign} on {campaign.device} is {campaign.state}: cancel it, or wait for its end"
