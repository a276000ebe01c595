"""What an order would be refused for by what its hosts have told already: said before anything is queued."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from django.db.models import Q

from results.models import Event
from runners.drive_keys import is_among
from runners.health import told_at
from runners.looks_again import looks_again_at
from runners.models import Device, Dispatch, DriveState, Host
from runners.orders import YCSB, Order
from runners.out_of_service import returns_of
from runners.recipes import ycsb
from runners.recipes.stage import Role
from runners.safety import may_be_told_to_destroy
from runners.signatures import DESTROY, signature_of
from runners.ycsb_hosts import objection_to_programs


def refusal_foreseen(device: Device, asked: Order) -> str:
    """Return why an order would be refused, with the remedy; empty where nothing that was told speaks against it.

    Raises SetupError for a YCSB sweep that cannot be run as it is.
    """
    return " ".join([*_by_last_check(device), *_for_data(device, asked), *_for_programs(device, asked)])


def last_identified(device: Device) -> tuple[dict[str, Any], datetime]:
    """Return what the host told of the drive last, and when: as it was bound, looked at again, or as a run found it."""
    asked_at = _last_at(_bindings_of(device) | looks_again_at(device)) or device.added_at
    looks = DriveState.objects.filter(drive_key=device.drive_key, dispatch__device=device, at__gt=asked_at)
    told = looks.exclude(document={}).order_by("-at", "-pk").first()
    return (device.identity, asked_at) if told is None else (told.document, told.at)


def last_bound_at(device: Device) -> datetime:
    """Return when somebody bound the device last."""
    return _last_at(_bindings_of(device)) or device.added_at


def in_service_since(device: Device) -> datetime:
    """Return when a device was bound or taken back last, with its host or alone: others may have used it before."""
    return _last_at(_bindings_of(device) | returns_of(device)) or device.added_at


def _bindings_of(device: Device) -> Q:
    return Q(kind="device-bound", subject_type="device", subject_id=str(device.pk))


def _last_at(events: Q) -> datetime | None:
    return Event.objects.filter(events).order_by("-at").values_list("at", flat=True).first()


def is_listed(host: Host, drive_key: str) -> bool | None:
    """Tell whether a host's operator lets a drive be loaded; None where the host never told, and where all are."""
    listed = host.health.get("drives")
    if host.kind != Host.Kind.SSH or listed is None:
        return None
    return is_among(drive_key, listed)


def _by_last_check(device: Device) -> Iterator[str]:
    host = device.host
    if host.kind != Host.Kind.SSH:
        return
    when = f"as it told on {_when(host)}" if told_at(host.health) else "as it told at its last check"
    if is_listed(host, device.drive_key) is False:
        yield (
            f"Host {host} would refuse it: its operator has not listed drive {device.drive_key}, {when}. Have it "
            "listed in /etc/drivecert/host.toml there, check the host on its page, and order again."
        )
    elif device.is_away:
        yield (
            f"Host {host} does not find drive {device.drive_key}, {when}. Attach it, check the host on its page, and "
            "order again."
        )


def _for_data(device: Device, asked: Order) -> Iterator[str]:
    """Recognised data is written over where the order says so, and over SSH never: its operator alone may."""
    document, at = last_identified(device)
    signature = signature_of(document)
    if not signature or asked.options.get(DESTROY):
        return
    holds = f"{device.path} holds {signature}, as its host told on {at:%-d %B %Y, %H:%M} UTC"
    if may_be_told_to_destroy(device):
        yield f"{holds}: order on the device's page, where typing its label says that this is written over."
    else:
        yield (
            f"{holds}, and refuses to write over it. Its operator wipes it there with the command on the device's "
            "page; then look again there."
        )


def _for_programs(device: Device, asked: Order) -> Iterator[str]:
    """A sweep runs what its hosts' operators allow by name, and stops at the first program that is not."""
    if asked.recipe != YCSB:
        return
    sweep = Dispatch(device=device, drive_key=device.drive_key, recipe=YCSB, options=asked.options)
    sweep.load_host = asked.load_host
    for role, host in ((Role.DATABASE, device.host), (Role.LOAD, asked.load_host)):
        if host is not None and (objection := objection_to_programs(host, ycsb.programs(sweep, role))):
            yield f"A sweep would be refused: {objection}."


def _when(host: Host) -> str:
    return f"{told_at(host.health):%-d %B %Y, %H:%M} UTC"
