"""Service state of hosts and devices: since when one is retired, why it gets no orders, and what blocks retirement."""

from collections.abc import Iterable, Iterator
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Q

from results.history import record_event
from results.models import Event
from runners.errors import RequestRefusedError
from runners.models import LOST_UNCONFIRMED, Device, Dispatch, Host
from runners.models.campaign import Campaign
from runners.models.postgres import lock_drive, lock_host, storable
from runners.models.states import FINAL

RETIRED, RETURNED = "retired", "back-in-service"
SUBJECT_ID_CHARS = 40  # of results.models.Event


class OutOfServiceError(RequestRefusedError):
    """The request needs a host or device that is retired. The text names it and the remedy."""

    code = "out-of-service"


def retirement_of(subject: Host | Device) -> Event | None:
    """Return the event that records who retired a host or device, and why. Return None while it is in service."""
    if subject.retired_at is None:
        return None
    events = Event.objects.filter(kind=f"{_type(subject)}-{RETIRED}", **_subject(subject))
    return events.select_related("actor").last()


def out_of_service(device: Device) -> str:
    """Return why a device gets no orders because it or its host is retired; empty if neither is."""
    found = ((each, retired_message(each)) for each in (device, device.host))
    return next((_refusal(each, retired) for each, retired in found if retired), "")


def _refusal(subject: Host | Device, retired: str) -> str:
    return f"{_type(subject).capitalize()} {subject} is {retired}; return it to service on its page first."


def retired_message(subject: Host | Device) -> str:
    """Return since when a host or device is retired; empty while it is in service."""
    return "" if subject.retired_at is None else f"retired since {subject.retired_at:%-d %B %Y, %H:%M} UTC"


def returns_of(device: Device) -> Q:
    """Return a filter for the events that returned a device to service, by itself or with its host."""
    device_back, host_back = (Q(kind=f"{_type(each)}-{RETURNED}", **_subject(each)) for each in (device, device.host))
    return device_back | host_back


def lock_in_service(device: Device, load_host: Host | None = None) -> None:
    """Lock a drive and its hosts as a claim does: they are not retired or changed meanwhile.

    Raise OutOfServiceError, and RequestRefusedError if the device names another part of its drive since the caller read
    it.
    """
    lock_drive(device.drive_key)
    hosts = (host for host in (device.host, load_host) if host is not None)
    for host in sorted(hosts, key=lambda host: host.pk):
        lock_host_in_service(host)
    was = (device.path, device.size_bytes)
    device.refresh_from_db(fields=["retired_at", "path", "size_bytes"])
    if was != (device.path, device.size_bytes):
        sentence = f"{device} was {was[0]} and is {device.path} now; reload the page"
        raise RequestRefusedError(sentence, "location-changed")
    if objection := out_of_service(device):
        raise OutOfServiceError(objection)


def lock_all(devices: Iterable[Device]) -> None:
    """Lock the drives of several devices, then their hosts, so that no claim and no other selection waits for this one.

    A claim locks its drive first, then its hosts.
    """
    devices = list(devices)
    for drive_key in sorted({device.drive_key for device in devices}):
        lock_drive(drive_key)
    for host_id in sorted({device.host_id for device in devices}):
        lock_host(host_id)


def lock_host_in_service(host: Host) -> None:
    """Lock a host until the transaction ends: it is not retired meanwhile. Raise OutOfServiceError."""
    lock_host(host.pk)
    host.refresh_from_db(fields=["retired_at"])
    if retired := retired_message(host):
        raise OutOfServiceError(_refusal(host, retired))


def record_service_event(
    subject: Host | Device,
    what: str,
    actor: AbstractBaseUser | None,
    reason: str,
    details: dict[str, Any] | None = None,
) -> None:
    """Record permanently who retired a host or device, or returned it to service."""
    about = (_type(subject), _subject(subject)["subject_id"])
    record_event(actor, f"{_type(subject)}-{what}", about, storable(reason.strip()), details)


def _subject(subject: Host | Device) -> dict[str, str]:
    subject_id = subject.name[:SUBJECT_ID_CHARS] if isinstance(subject, Host) else str(subject.pk)
    return {"subject_type": _type(subject), "subject_id": subject_id}


def _type(subject: Host | Device) -> str:
    return "host" if isinstance(subject, Host) else "device"


def blocking_work(dispatches: Q, campaigns: Q) -> Iterator[str]:
    """Yield each unfinished dispatch and campaign of these, with its remedy: they block retirement and path changes."""
    for dispatch in Dispatch.objects.filter(dispatches).exclude(state__in=FINAL).select_related("device__host"):
        yield f"dispatch {dispatch} on {dispatch.device} is {dispatch.state}: cancel it, or wait for its end"
    for dispatch in Dispatch.objects.filter(dispatches).filter(LOST_UNCONFIRMED).select_related("device__host"):
        yield f"dispatch {dispatch} on {dispatch.device} was lost and may still run: declare on its page that it ended"
    for campaign in Campaign.objects.filter(campaigns, state__in=Campaign.OPEN_STATES).select_related("device__host"):
        yield f"campaign {campaign} on {campaign.device} is {campaign.state}: cancel it, or wait for its end"
