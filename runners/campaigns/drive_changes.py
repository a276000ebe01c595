"""What happened to a campaign's drive since its preparation that voids the runs after it, as its states tell it.

The certificate asks more (results/rules/certification/checks.py), also what nobody told: here is only what is certain.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from runners.campaigns.ladder import Rung
from runners.models import DriveState


def change_to_look_at(rungs: Sequence[Rung]) -> str:
    """Return what voids the runs to come, for a person to look at; empty where nothing does, or one has looked."""
    states = _since_prep(rungs)
    excused = {rung.dispatch.pk for rung in rungs if rung.outcome.is_excused}
    looked_at_count = sum(state.dispatch_id in excused for state in states)
    changes = list(_changes(states[max(0, looked_at_count - 1) :]))
    return f"{changes[0]}; what runs after that certifies nothing with the preparation before it" if changes else ""


def changes_of_tests(nx_rungs: Sequence[Rung], rungs: Sequence[Rung]) -> list[str]:
    """Return what voids the tests of a load, these rungs, as sentences; empty where nothing is known to."""
    return [*resets_of_tests(nx_rungs, rungs), *_firmwares(states_of(nx_rungs))]


def resets_of_tests(nx_rungs: Sequence[Rung], rungs: Sequence[Rung]) -> list[str]:
    """Return that the drive was reset between its preparation and these tests, as far as its states tell."""
    return [sentence for prep in _since_prep(rungs)[:1] for sentence in _resets(prep, states_of(nx_rungs))]


def states_of(rungs: Sequence[Rung]) -> list[DriveState]:
    """Return the drive's states before and after these runs, in their order."""
    return [state for rung in rungs for state in _states(rung)]


def _since_prep(rungs: Sequence[Rung]) -> list[DriveState]:
    """Return the drive's states in their order, from before its last whole preparation; without one, all."""
    preps = [place for place, rung in enumerate(rungs) if rung.dispatch.preparation_id is not None]
    return [state for rung in rungs[preps[-1] if preps else 0 :] for state in _states(rung)]


def _states(rung: Rung) -> list[DriveState]:
    return list(rung.dispatch.drive_states.all())


def _changes(states: Sequence[DriveState]) -> Iterator[str]:
    if states:
        yield from _resets(states[0], states[1:])
        yield from _firmwares(states)


def _resets(first: DriveState, later: Sequence[DriveState]) -> Iterator[str]:
    """Tell of a trim since a state, or of a restart, after which the host counts trims anew."""
    for state in later:
        if None in {first.boot_id, state.boot_id}:
            continue
        if state.boot_id != first.boot_id:
            yield f"the host was restarted before {_at(state)}: that the drive was not trimmed cannot be shown any more"
            return
        if None not in {first.discards_count, state.discards_count} and state.discards_count != first.discards_count:
            yield f"the drive was trimmed or formatted before {_at(state)}"
            return


def _firmwares(states: Sequence[DriveState]) -> Iterator[str]:
    told = [state for state in states if state.firmware]
    for before, after in pairwise(told):
        if before.firmware != after.firmware:
            yield f"the firmware changed from {before.firmware} to {after.firmware}, seen {_at(after)}"
            return


def _at(state: DriveState) -> str:
    return f"the state {state.moment} {state.dispatch.public_id}"
