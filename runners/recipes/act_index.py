"""The ACT index load: pages of an index, in 4 KiB requests; sent, run and collected as the storage load is.

Progress is in seconds of the run, from the labels of its log. It leaves a submission; no certificate rests on it.
"""

from typing import Any

from runners.evidence.submit import hand_in_log
from runners.hosts.protocol import LabHost, ProgramStatus
from runners.models import Dispatch
from runners.monitoring.progress import act_columns
from runners.recipes import act_config
from runners.recipes.stage import Stage

LABEL = "ACT index"


def stages(dispatch: Dispatch) -> tuple[Stage, ...]:
    """Return what is run."""
    files = act_config.files(act_config.config_text(dispatch))
    argv = tuple(act_config.argv("index", dispatch))
    return (Stage("", argv, files, is_measured=True, limit_s=dispatch.duration_s),)


def progress(dispatch: Dispatch, host: LabHost, run: str, status: ProgramStatus) -> dict[str, Any]:
    """Return the columns that follow its outputs."""
    return act_columns(dispatch, host, run, status, act_config.unit(dispatch))


def hand_in(dispatch: Dispatch, host: LabHost) -> dict[str, Any]:
    """Return what it left in the register."""
    return {"submission": hand_in_log(dispatch, host)}
