"""The ACT storage load: a configuration is sent, one program runs, its log and side file are collected.

Progress is in seconds of the run, from the labels of its log. It leaves a submission.
"""

from typing import Any

from runners.evidence.submit import hand_in_log
from runners.hosts.protocol import LabHost, ProgramStatus
from runners.models import Dispatch
from runners.monitoring.progress import act_columns
from runners.recipes import act_config
from runners.recipes.stage import Stage

LABEL = "ACT storage"
OPTIONS: dict[str, Any] = act_config.OPTIONS | {"record_bytes": 1536}


def files(dispatch: Dispatch) -> dict[str, bytes]:
    """Return the files that the run directory must hold before the start."""
    return act_config.files(config_text(dispatch))


def argv(dispatch: Dispatch) -> list[str]:
    """Return drivetest's arguments."""
    return act_config.argv("storage", dispatch)


def config_text(dispatch: Dispatch) -> str:
    """Return the configuration in ACT 6.x keys."""
    options = OPTIONS | dispatch.options
    return act_config.config_text(dispatch, [("record-bytes", str(options["record_bytes"]))])


def stages(dispatch: Dispatch) -> tuple[Stage, ...]:
    """Return what is run."""
    return (Stage("", tuple(argv(dispatch)), files(dispatch), is_measured=True, limit_s=dispatch.duration_s),)


def progress(dispatch: Dispatch, host: LabHost, run: str, status: ProgramStatus) -> dict[str, Any]:
    """Return the columns that follow its outputs."""
    return act_columns(dispatch, host, run, status, act_config.unit(dispatch))


def hand_in(dispatch: Dispatch, host: LabHost) -> dict[str, Any]:
    """Return what it left in the register."""
    return {"submission": hand_in_log(dispatch, host)}
