"""Preparation of a drive: zeros, then random data on all of it; nothing is sent but the command.

Progress is in bytes, from the program's JSON lines. They are also the evidence (kind prep). A finished preparation
gives a Preparation row that later runs rest on; an unfinished one leaves only the evidence.
"""

from typing import Any

from django.conf import settings

from results.models import Evidence, Preparation
from runners.evidence.submit import LOG_FILE, SIDE_FILE, begun_at, store_evidence
from runners.hosts.drive_keys import keys_of
from runners.hosts.protocol import LabHost, ProgramStatus
from runners.models import Dispatch, exit_codes
from runners.models.states import State
from runners.monitoring.progress import last_record, parse_record, read_last_record, tail
from runners.recipes.base import Stage, consent

LABEL = "Preparation"
STATE_FILE = "prep.state"
FIGURES = ("phase", "done_bytes", "total_bytes", "bytes_per_s", "remaining_s")
PASSES_COUNT = 2  # zeros, then random data


def argv(dispatch: Dispatch) -> list[str]:
    """Return drivetest's arguments. It compares the opened drive with the expected one before any write."""
    outputs = ["--log", LOG_FILE, "--side-file", SIDE_FILE, "--state", STATE_FILE]
    return ["prep", dispatch.device.path, *outputs, *consent(dispatch.options), "--expect-drive", dispatch.drive_key]


def stages(dispatch: Dispatch) -> tuple[Stage, ...]:
    """Return the one stage of a preparation."""
    limit_s = PASSES_COUNT * dispatch.device.size_bytes // settings.PREP_BYTES_PER_S_MIN
    return (Stage("", tuple(argv(dispatch)), limit_s=limit_s),)


def progress(dispatch: Dispatch, host: LabHost, run: str, status: ProgramStatus) -> dict[str, Any]:
    """Return the columns that follow the last progress in the side file, and the end of the log."""
    if not status.log_bytes or status.log_bytes == dispatch.log_bytes:
        return {}
    record = read_last_record(host, run, status.side_file_bytes, "progress") or {}
    figures = {name: record[name] for name in FIGURES if record.get(name) is not None}
    if total_bytes := figures.get("total_bytes"):
        figures["done_pct"] = figures["done_bytes"] * 100 // total_bytes
    shown = {"prep": figures, "tail": tail(host, run, status.log_bytes)}
    return {"log_bytes": status.log_bytes, "progress": dispatch.progress | shown}


def collect(dispatch: Dispatch, host: LabHost) -> dict[str, Any]:
    """Store the record, and the Preparation if it is complete."""
    return {"preparation": store_preparation(dispatch, host)}


HEAD_BYTES = TAIL_BYTES = 64 * 1024
SCHEMA = "drivecert.prep/1"
PASSES = {"zero", "salt"}


def store_preparation(dispatch: Dispatch, host: LabHost) -> Preparation | None:
    """Store the record of a preparation. Return the Preparation if it is complete, else None. Repeatable.

    Its times are from the register's clock, like those of the runs after it.
    """
    with host.fetch(dispatch.public_id, SIDE_FILE) as record:
        evidence = store_evidence(dispatch, record, SIDE_FILE, Evidence.Kind.PREP)
    if dispatch.exit_status != exit_codes.FINISHED or not _is_whole(dispatch, host, evidence.size_bytes):
        return None
    ended = dispatch.steps.filter(to_state=State.COLLECTING).first()
    times = {"started_at": begun_at(dispatch), "finished_at": ended.at if ended else None}
    row, _ = Preparation.objects.get_or_create(drive_key=dispatch.drive_key, evidence=evidence, defaults=times)
    return row


def _is_whole(dispatch: Dispatch, host: LabHost, length: int) -> bool:
    """Return whether the record shows that this very drive was zeroed and salted to its end, in one go."""
    head = host.read(dispatch.public_id, SIDE_FILE, 0, HEAD_BYTES).split(b"\n", 1)[0]
    tail = host.read(dispatch.public_id, SIDE_FILE, max(0, length - TAIL_BYTES), TAIL_BYTES)
    start, end = parse_record(head) or {}, last_record(tail, "end") or {}
    keys = [device.get("drive_key") for device in start.get("devices") or [] if isinstance(device, dict)]
    is_this_drive = len(keys) == 1 and dispatch.drive_key in keys_of(str(keys[0]))
    has_both_passes = start.get("schema") == SCHEMA and set(start.get("passes") or ()) >= PASSES
    is_in_one_go = not start.get("is_resumed") and end.get("reason") == "finished"
    return is_this_drive and has_both_passes and is_in_one_go
