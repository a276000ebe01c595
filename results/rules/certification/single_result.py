"""The requirements of a certificate on a load test, checked for one result alone, also for a published one."""

from results.rules.certification import checks
from results.rules.certification.certify import PASS
from results.rules.certification.facts import CandidateRun, Requirement

LOAD, DURATION, DEVICES, RATES = "load", "duration", "device-count", "rates"
CHECKS = (
    checks.check_real,
    checks.check_drives,
    checks.check_preparation,
    checks.check_firmware,
    checks.check_over_provisioning,
)


def met_by_result(run: CandidateRun, duration_s: int) -> dict[str, bool]:
    """Return for each requirement on the result itself whether the result meets it.

    A verdict includes duration and load. They are separate here because a published result has no verdict.
    """
    return {
        LOAD: run.outcome == PASS,
        DURATION: run.duration_s is not None and run.duration_s >= duration_s,
        DEVICES: bool(run.device_count),
        RATES: run.nx_load is not None,
    }


def requirements_on_drives(run: CandidateRun) -> tuple[Requirement, ...]:
    """Return each requirement on the drives of one result, shown or missing."""
    return tuple(check((run,), run.device_count or 1) for check in CHECKS)
