"""Telemetry of the drive beside a stage on a second host: looked at now and then, and told of where it has ended.

A look at it starts a program on the drive's host, which is being measured: it is no part of every look.
"""

from dataclasses import replace
from time import monotonic

from runners.hosts.host_pair import TwoHosts, of_both, why_it_is_over
from runners.hosts.protocol import Detached, LabHost, ProgramStatus
from runners.lifecycle.stages import current, current_run
from runners.models import Dispatch, Step, exit_codes
from runners.models.states import WORKER

BESIDE_PERIOD_S = 60
# Of telemetry that was asked to end: `watch` without a program ends with 0 then.
AS_ASKED = frozenset({exit_codes.FINISHED, exit_codes.INTERRUPTED})

# When this process was last told how a run's telemetry stands. Another process asks once more than it had to.
_told_at_s: dict[str, float] = {}


def look_beside(dispatch: Dispatch, host: LabHost, status: ProgramStatus) -> ProgramStatus:
    """Return the status of a stage that runs, with the starts of both machines where the telemetry was asked about."""
    if not isinstance(host, TwoHosts):
        return status
    run = current_run(dispatch)
    if run not in host.elsewhere or not _is_due(dispatch, run):
        return status
    beside = host.status_beside(run)
    if beside.state is not Detached.RUNNING:
        _tell_once(dispatch, beside)
    _keep_time(run)
    return replace(status, boot_ids=of_both(beside.boot_ids, status.boot_ids))


def words_beside(dispatch: Dispatch, host: LabHost) -> str:
    """Return what to add to the end of a stage whose telemetry had ended by itself; empty where it was asked to end."""
    run = current_run(dispatch)
    if not isinstance(host, TwoHosts) or run not in host.elsewhere:
        return ""
    beside = host.status_beside(run)
    is_as_asked = beside.pid is not None and beside.exit_status in AS_ASKED
    return "" if is_as_asked else f"; but telemetry of the drive beside it {why_it_is_over(beside)}"


def _is_due(dispatch: Dispatch, run: str) -> bool:
    """While the host gives no answer every look asks it: a look that left it out would pass for an answer."""
    told_at_s = _told_at_s.get(run)
    return told_at_s is None or dispatch.silent_since is not None or monotonic() - told_at_s >= BESIDE_PERIOD_S


def _keep_time(run: str) -> None:
    """Keep when a run was asked about, and forget the runs of which nobody has asked for a while."""
    now_s = monotonic()
    _told_at_s[run] = now_s
    for other, told_at_s in list(_told_at_s.items()):
        if now_s - told_at_s > 2 * BESIDE_PERIOD_S:
            _told_at_s.pop(other, None)


def _tell_once(dispatch: Dispatch, beside: ProgramStatus) -> None:
    """Enter in the history that it has ended while the stage runs; the stage goes on without."""
    head = f"telemetry of the drive beside {current(dispatch).name} "
    if not dispatch.steps.filter(reason__startswith=head).exists():
        here = {"from_state": dispatch.state, "to_state": dispatch.state}
        reason = f"{head}on {dispatch.device.host} {why_it_is_over(beside)}; {current(dispatch).name} goes on without"
        Step.objects.create(dispatch=dispatch, **here, actor=WORKER, reason=reason)
