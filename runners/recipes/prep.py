"""Preparing a drive: zeros, then random data over all of it; nothing is sent but the command.

Progress is in bytes, from its JSON lines. These are the evidence that it leaves (kind prep), and a Preparation that the
runs after it rest on; a preparation that did not finish leaves the evidence alone.
"""

from typing import Any

from django.conf import settings

from runners.evidence import preparations
from runners.evidence.submit import LOG_FILE, SIDE_FILE
from runners.hosts.protocol import LabHost, ProgramStatus
from runners.models import Dispatch
from runners.monitoring.progress import prep_columns
from runners.recipes.act_config import consent
from runners.recipes.stage import Stage

LABEL = "Preparation"
STATE_FILE = "prep.state"
PASSES_COUNT = 2  # zeros, then random data


def argv(dispatch: Dispatch) -> list[str]:
    """Return drivetest's arguments; the drive is compared with what was opened, before any write."""
    outputs = ["--log", LOG_FILE, "--side-file", SIDE_FILE, "--state", STATE_FILE]
    return ["prep", dispatch.device.path, *outputs, *consent(dispatch), "--expect-drive", dispatch.drive_key]


def stages(dispatch: Dispatch) -> tuple[Stage, ...]:
    """Return what is run."""
    limit_s = PASSES_COUNT * dispatch.device.size_bytes // settings.PREP_BYTES_PER_S_MIN
    return (Stage("", tuple(argv(dispatch)), limit_s=limit_s),)


def progress(dispatch: Dispatch, host: LabHost, run: str, status: ProgramStatus) -> dict[str, Any]:
    """Return the columns that follow its outputs."""
    return prep_columns(dispatch, host, run, status)


def hand_in(dispatch: Dispatch, host: LabHost) -> dict[str, Any]:
    """Return what it left in the register."""
    return {"preparation": preparations.hand_in(dispatch, host)}
