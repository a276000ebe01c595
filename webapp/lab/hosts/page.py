"""Contents of a host's page: its drives, details of the register's own machine, and current outages."""

import platform
from collections import defaultdict
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.models import TextChoices
from django.utils import timezone

from results.history import event_label
from results.models import Event
from runners.errors import HostError
from runners.hosts import connect
from runners.hosts.drive_keys import is_same_drive
from runners.hosts.local import LocalHost
from runners.hosts.machine import is_this_machine
from runners.hosts.protocol import FoundDrive, parse_drives
from runners.inventory.enrolment import own_program_sha256
from runners.inventory.health import is_listed, reported_at
from runners.inventory.service_state import SUBJECT_ID_CHARS
from runners.inventory.ycsb_requirements import allowed_programs, missing_programs, programs_path
from runners.models import Agent, Dispatch, Host
from runners.models.states import ON_HOST
from webapp.lab.shared.drive_status import use_message
from webapp.lab.shared.outages import current_outage_message, prefetch_outages

MINUTE_S = 60
EVENTS_SHOWN = 10
AGENT_EVENTS = ("host-added", "host-join-code-created", "host-agent-joined", "host-agent-revoked", "host-pinned-anew")
TOO_OLD = "The host's drivetest is too old to list drives. Install the drivetest of this register and pin it."
NOT_REQUESTED = "The last check did not list the drives of this host. Refresh the list."
NOT_CHECKED = "No check has reached this host yet, so its drives are not known."


def drives_of(host: Host) -> dict[str, Any]:
    """Return the drives of a host as `rows` that were reported `age_s` seconds ago, or the `unknown_reason`.

    They are from the last check, or listed now if the host is the register's own machine.
    """
    is_local, found = not host.is_remote, host.health.get("found")
    reported_at = timezone.now() if is_local else _reported_at(host)
    if reported_at is None or not (is_local or found is not None):
        # Checks of earlier releases did not list the drives.
        not_listed = TOO_OLD if "found" in host.health else NOT_REQUESTED
        return {"unknown_reason": not_listed if host.health else NOT_CHECKED}
    try:
        drives = connect(host).list_drives() if is_local else parse_drives({"drives": found})
    except HostError as error:  # also for a report that an earlier release stored without a check
        return {"unknown_reason": f"The drives of {host} cannot be listed: {error}"}
    return {"rows": _rows(host, drives), "reported_at": reported_at, "age_s": _age_s(reported_at)}


def _age_s(reported_at: datetime) -> int:
    """Return the age of a report; from one minute on, in whole minutes."""
    age_s = max(0, round((timezone.now() - reported_at).total_seconds()))
    return age_s if age_s < MINUTE_S else age_s - age_s % MINUTE_S


def _reported_at(host: Host) -> datetime | None:
    """Return the time of the last report by the register's clock."""
    by_host_clock = reported_at(host.health)
    return by_host_clock and by_host_clock - timedelta(seconds=host.health["clock_offset_s"])


def _rows(host: Host, drives: list[FoundDrive]) -> list[dict[str, Any]]:
    """Return each drive with the device that it is bound as, and whether the operator listed it (None: no list)."""
    devices, rows = list(host.devices.order_by("pk")), []
    for drive in drives:
        device = next((each for each in devices if is_same_drive(each.drive_key, drive.drive_key)), None)
        # All namespaces of a drive have the same key, so the device is at one of their paths only.
        is_device = device is not None and device.path == drive.path
        is_in_list = is_listed(host, drive.drive_key)
        row = {"drive": drive, "device": device, "is_device": is_device, "is_listed": is_in_list}
        rows.append(row | {"use": use_message(drive)})
    return rows


class AgentState(TextChoices):
    """The state of an agent, with the text that the page of its host shows."""

    WAITING = "waiting", "waiting to join"
    EXPIRED = "expired", "not joined: the code of its command has expired"
    JOINED = "joined", "joined"
    REVOKED = "revoked", "revoked"


def agent_of(host: Host) -> dict[str, Any] | None:
    """Return the agent of a host, its state and its latest events; None for a host without an agent.

    `code_expires_at` is the end of a join code that no agent has used yet. `new_program` is the SHA-256 of the
    register's drivetest if another one is pinned.
    """
    agent = Agent.objects.select_related("created_by").filter(host=host).first()
    if agent is None:
        return None
    pending = agent.code_expires_at if agent.code_expires_at and agent.code_expires_at > timezone.now() else None
    if agent.is_joined:
        state = AgentState.JOINED
    elif pending:
        state = AgentState.WAITING
    else:
        state = AgentState.REVOKED if agent.revoked_at else AgentState.EXPIRED
    events = Event.objects.filter(subject_type="host", subject_id=host.name[:SUBJECT_ID_CHARS], kind__in=AGENT_EVENTS)
    latest = events.select_related("actor").order_by("-at", "-pk")[:EVENTS_SHOWN]
    history = [(event, event_label(event.kind)) for event in latest]
    own = own_program_sha256()
    found = {"agent": agent, "state": state, "code_expires_at": pending, "history": history}
    return found | {"new_program": own if host.program_sha256 and own != host.program_sha256 else ""}


def own_machine(host: Host) -> dict[str, Any] | None:
    """Return the details of this machine; None if the host is another machine.

    `programs` are those that its operator allows for a sweep; `programs_problem` states why there are none.
    """
    if not is_this_machine(host.machine_id):
        return None
    path = programs_path()
    programs, problem = _programs(host, path)
    return {
        "hostname": platform.node(),
        "kernel": platform.release(),
        "program_version": _version(),
        "program_path": str(settings.DRIVETEST),
        "program_sha256": own_program_sha256(),
        "programs_path": str(path),
        "programs": programs,
        "programs_problem": problem,
    }


def _version() -> str:
    try:
        return LocalHost().version()
    except HostError as error:
        return str(error)


def _programs(host: Host, path: Path) -> tuple[list[str], str]:
    if missing := missing_programs(host):
        return [], missing
    try:
        return sorted(allowed_programs()), ""
    except PermissionError:
        return [], f"Only root can read {path}. drivetest checks it when a sweep starts"
    except (OSError, ValueError) as error:
        return [], (
            f"{path} cannot be read. Expected the format drivecert.programs/1 (docs/reference/formats.md), got: {error}"
        )


def outages_by_host() -> dict[int, dict[str, list[Dispatch]]]:
    """Return the current outages by host id: a message for each, with the dispatches that it affects."""
    outages: dict[int, dict[str, list[Dispatch]]] = defaultdict(lambda: defaultdict(list))
    on_host = list(Dispatch.objects.filter(state__in=ON_HOST).select_related("device__host", "load_host"))
    prefetch_outages(on_host)
    for dispatch in on_host:
        if message := current_outage_message(dispatch):
            for host in {dispatch.device.host, dispatch.load_host or dispatch.device.host}:
                outages[host.pk][message].append(dispatch)
    return {host_id: dict(affected) for host_id, affected in outages.items()}
