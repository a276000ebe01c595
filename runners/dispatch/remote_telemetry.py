"""Drive telemetry on a dispatch's database host, while a second host runs the load: polled now and then.

A poll starts a program on the drive's host, which is being measured. Therefore most polls leave it out.
"""

from dataclasses import replace
from time import monotonic

from runners.hosts.host_pair import HostPair, both_boot_ids, telemetry_end_message
from runners.hosts.protocol import LabHost, ProgramState, ProgramStatus
from runners.lifecycle.stages import current_run, current_stage
from runners.lifecycle.transitions import add_step
from runners.models import Dispatch, Step, exit_codes
from runners.models.states import WORKER

TELEMETRY_PERIOD_S = 60
# The ends of telemetry that was stopped: `watch` without a program exits with 0 then.
EXPECTED_ENDS = frozenset({exit_codes.FINISHED, exit_codes.INTERRUPTED})

# When this process last polled a run's telemetry. Another process may poll it once more than necessary.
_polled_at_s: dict[str, float] = {}


def poll_telemetry(dispatch: Dispatch, host: LabHost, status: ProgramStatus) -> ProgramStatus:
    """Return the status of a running stage, with the boot ids of both machines if the telemetry was polled."""
    if not isinstance(host, HostPair):
        return status
    run = current_run(dispatch)
    if run not in host.load_runs or not _is_due(dispatch, run):
        return status
    telemetry = host.telemetry_status(run)
    if telemetry.state is not ProgramState.RUNNING:
        _record_end_once(dispatch, telemetry)
    _record_poll(run)
    return replace(status, boot_ids=both_boot_ids(telemetry.boot_ids, status.boot_ids))


def telemetry_message(dispatch: Dispatch, host: LabHost) -> str:
    """Return an addition to the end of a stage whose telemetry ended by itself; empty if it was stopped."""
    run = current_run(dispatch)
    if not isinstance(host, HostPair) or run not in host.load_runs:
        return ""
    telemetry = host.telemetry_status(run)
    is_expected = telemetry.pid is not None and telemetry.exit_status in EXPECTED_ENDS
    return "" if is_expected else f"; but drive telemetry {telemetry_end_message(telemetry)}"


def _is_due(dispatch: Dispatch, run: str) -> bool:
    """Return whether the telemetry is due. During an outage it always is: skipping it would look like an answer."""
    polled_at_s = _polled_at_s.get(run)
    return polled_at_s is None or dispatch.silent_since is not None or monotonic() - polled_at_s >= TELEMETRY_PERIOD_S


def _record_poll(run: str) -> None:
    """Store when a run was polled, and forget the runs that have not been polled for a while."""
    now_s = monotonic()
    _polled_at_s[run] = now_s
    for other, polled_at_s in list(_polled_at_s.items()):
        if now_s - polled_at_s > 2 * TELEMETRY_PERIOD_S:
            _polled_at_s.pop(other, None)


def _record_end_once(dispatch: Dispatch, telemetry: ProgramStatus) -> None:
    """Add to the history that telemetry ended while the stage runs; the stage goes on without it."""
    stage = current_stage(dispatch).name
    if dispatch.steps.filter(kind=Step.Kind.TELEMETRY_ENDED, details__stage=stage).exists():
        return
    end = telemetry_end_message(telemetry)
    reason = f"drive telemetry of stage {stage} on {dispatch.device.host} {end}; {stage} continues without it"
    add_step(dispatch, dispatch.state, Step.Kind.TELEMETRY_ENDED, WORKER, reason, {"stage": stage})
