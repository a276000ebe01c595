"""The requirements of a certificate on the drives that were tested: which, real, prepared, and in one state."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from results.rules.certification.facts import CandidateRun, DriveInRun, DriveState, Requirement
from results.rules.plural import counted

Runs = Sequence[CandidateRun]


@dataclass(frozen=True)
class Likeness:
    """All that the checks below see of a run: its drives, what is known of them, and which preparations they follow."""

    keys: frozenset[str]
    states: Hashable
    preparations: frozenset[tuple[str, str]]


def likeness(run: CandidateRun) -> Likeness:
    """Return what the checks compare of a run; runs that agree in it are interchangeable."""
    drives = run.drives or ()
    seen = frozenset((_state_seen(drive.before), _state_seen(drive.after)) for drive in drives)
    is_prepared = all(_preparation_fault(run, drive) is None for drive in drives)
    states = (run.is_virtual, run.drives is None, run.drive_count, len(_keys(run)), is_prepared, seen)
    made = frozenset((drive.key, drive.preparation.id) for drive in drives if drive.preparation)
    return Likeness(_keys(run), states, made)


def _state_seen(state: DriveState | None) -> tuple[str | None, Decimal | None]:
    return (None, None) if state is None else (state.firmware or None, state.over_provisioning_pct)


def check_drives(runs: Runs, device_count: int) -> Requirement:
    """Return whether all runs of a stage were made on the same drives, as many as there are devices."""
    fault = next(filter(None, (_drive_fault(run, device_count) for run in runs)), None)
    if fault is None and len({_keys(run) for run in runs}) > 1:
        fault = f"{_names(runs)} ran on different drives"
    shown = f"{_names(runs)} ran on {_drives(device_count)}: {', '.join(sorted(_keys(runs[0])))}"
    return _requirement("drives", device_count, fault, shown)


def check_real(runs: Runs, device_count: int) -> Requirement:
    """Return whether every run was made on real drives: a virtual device never certifies."""
    virtual = [run.id for run in runs if run.is_virtual]
    unknown = [run.id for run in runs if run.is_virtual is None]
    fault = None
    if virtual:
        fault = f"{', '.join(virtual)} ran on a virtual device, which never certifies"
    elif unknown:
        fault = f"it cannot be shown that {', '.join(unknown)} ran on a real drive"
    return _requirement("real-drives", device_count, fault, "no run was made on a virtual device")


def check_preparation(runs: Runs, device_count: int) -> Requirement:
    """Return whether the runs of a stage follow one preparation of each drive, made after its last format or trim."""
    parts = [(run, drive) for run in runs for drive in run.drives or ()]
    fault = next(filter(None, (_preparation_fault(run, drive) for run, drive in parts)), None)
    if fault is None:
        fault = _unknown_drives(runs) or _second_preparation([drive for _, drive in parts])
    return _requirement("preparation", device_count, fault, f"{_names(runs)} follow one preparation with evidence")


def check_firmware(runs: Runs, device_count: int) -> Requirement:
    """Return whether every drive had the same firmware before and after every run; a change voids the set."""
    return _check_state(runs, device_count, "firmware", lambda state: state.firmware or None)


def check_over_provisioning(runs: Runs, device_count: int) -> Requirement:
    """Return whether every drive was over-provisioned equally before and after every run."""

    def percentage(state: DriveState) -> str | None:
        pct = state.over_provisioning_pct
        return None if pct is None else f"{pct.normalize():f} %"

    return _check_state(runs, device_count, "over-provisioning", percentage)


def check_includes(single: Runs, all_devices: Runs, device_count: int) -> Requirement:
    """Return whether the drive that was tested alone is one of those tested together."""
    alone = {key for run in single for key in _keys(run)}
    together = {key for run in all_devices for key in _keys(run)}
    fault = None
    if not alone or not together:
        fault = "it cannot be shown that the drive tested alone is one of those tested together"
    elif not alone <= together:
        fault = f"{', '.join(sorted(alone - together))} was tested alone and is not among the drives tested together"
    return _requirement("same-drive", device_count, fault, "the drive tested alone is one of those tested together")


def _requirement(name: str, device_count: int, fault: str | None, shown: str) -> Requirement:
    return Requirement(name, device_count, fault is None, shown if fault is None else fault)


def _names(runs: Runs) -> str:
    return " and ".join(run.id for run in runs)


def _drives(count: int) -> str:
    return "one drive" if count == 1 else f"{count} drives"


def _keys(run: CandidateRun) -> frozenset[str]:
    return frozenset(drive.key for drive in run.drives or ())


def _drive_fault(run: CandidateRun, device_count: int) -> str | None:
    """Report too few drives even if their names are unknown: that is certain, the rest cannot be shown."""
    known_count = run.drive_count if run.drives is None else len(_keys(run))
    if known_count is not None and known_count != device_count:
        return f"{run.id} ran on {_drives(known_count)}, as {counted(device_count, 'device')}"
    return f"it cannot be shown which drive {run.id} ran on" if run.drives is None else None


def _unknown_drives(runs: Runs) -> str | None:
    unknown = [run.id for run in runs if not run.drives]
    return f"it cannot be shown which drive {', '.join(unknown)} ran on" if unknown else None


def _preparation_fault(run: CandidateRun, drive: DriveInRun) -> str | None:
    made = drive.preparation
    if made is None or made.evidence_id is None:
        return f"there is no evidence of a preparation of {drive.key} before {run.id}"
    if made.started_at_s is None or made.finished_at_s is None or run.started_at_s is None:
        return f"it cannot be shown that {drive.key} was prepared before {run.id} began"
    if made.finished_at_s > run.started_at_s:
        return f"{run.id} began before the preparation of {drive.key} ended"
    return _reset_fault(run, drive, made.started_at_s)


def _reset_fault(run: CandidateRun, drive: DriveInRun, prepared_from_s: int) -> str | None:
    resets = [state.reset_at_s if state else None for state in (drive.before, drive.after)]
    if any(reset_s is not None and reset_s > prepared_from_s for reset_s in resets):
        return f"{drive.key} was formatted or trimmed after its preparation began ({run.id})"
    if None in resets:
        return f"it cannot be shown when {drive.key} was last formatted or trimmed ({run.id})"
    return None


def _second_preparation(drives: Sequence[DriveInRun]) -> str | None:
    made: dict[str, set[str]] = {}
    for drive in drives:
        if drive.preparation:
            made.setdefault(drive.key, set()).add(drive.preparation.id)
    again = sorted(key for key, ids in made.items() if len(ids) > 1)
    return f"{', '.join(again)} was prepared again between the runs" if again else None


def _check_state(runs: Runs, device_count: int, name: str, value_of: Callable[[DriveState], str | None]) -> Requirement:
    """Compare the values of all states: different values are certain, and an unknown value is not shown."""
    states = [state for run in runs for drive in run.drives or () for state in (drive.before, drive.after)]
    values = {value_of(state) if state else None for state in states}
    known = sorted(value for value in values if value is not None)
    fault = None
    if len(known) > 1:
        fault = f"the {name} changed or differs: {', '.join(known)}"
    elif not known or None in values or _unknown_drives(runs):
        fault = f"the {name} before and after each of {_names(runs)} cannot be shown"
    return _requirement(name, device_count, fault, f"{name} {' '.join(known)} before and after every run")


OF_ALL_RUNS = (check_real, check_firmware, check_over_provisioning)
