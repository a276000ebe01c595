"""Results as they were at an earlier moment, so that news of an ended month stay as they were."""

import copy
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from results.models import EarlierResult, Event, Run, Verdict

CATALOGUE_CHANGED = "run-changed"  # with old and new value of each column that a catalogue corrected


@dataclass(frozen=True)
class PastResult:
    """A run with speed, devices, outcome and profile of a moment; outcome and profile are empty without a verdict.

    `run` is a copy for display. `shares` are the percentages by threshold, if a catalogue changed those of the run
    later; otherwise None.
    """

    run: Run
    outcome: str = ""
    profile: str = ""
    shares: Mapping[int, Decimal] | None = None


def _decimal(text: str | None) -> Decimal | None:
    return Decimal(text) if text and text != "None" else None


def _whole(text: str) -> int | None:
    return None if text == "None" else int(text)


def _percentages(printed: Mapping[str, str]) -> dict[int, Decimal]:
    return {int(threshold_us): Decimal(text) for threshold_us, text in printed.items()}


# Name in the details of an event -> name of a value, and the function that reads it.
CORRECTED: Mapping[str, tuple[str, Callable[[Any], Any]]] = {
    "tps": ("tps", _decimal),
    "device_count": ("device_count", _whole),
    "device_gb": ("device_gb", _whole),
    "printed_shares": ("shares", _percentages),
}


def _replaced_values(details: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that a correction by a catalogue replaced, by name."""
    return {value: read(details[name][0]) for name, (value, read) in CORRECTED.items() if name in details}


class PastResults:
    """The earlier values and verdicts of some runs, in three queries for any number of runs."""

    def __init__(self, runs: Iterable[Run]) -> None:
        self._ids = {run.pk: run.public_id for run in runs}
        self._verdicts = self._read_verdicts()
        self._replaced = self._read_replaced()

    def at(self, run: Run, moment: datetime) -> PastResult:
        """Return what the register showed of a run at a moment, its first verdict if it had none yet."""
        values: dict[str, Any] = {}
        for replaced_at, earlier in reversed(self._replaced[run.public_id]):
            if replaced_at > moment:
                values |= earlier
        shares, past = values.pop("shares", None), copy.copy(run)
        for name, value in values.items():
            setattr(past, name, value)
        verdicts = self._verdicts[run.public_id]
        if not verdicts:
            return PastResult(past, shares=shares)
        known = [verdict for verdict in verdicts if verdict[0] <= moment]
        _, outcome, profile = (known or verdicts[:1])[-1]
        return PastResult(past, outcome, profile, shares)

    def _read_verdicts(self) -> dict[str, list[tuple[datetime, str, str]]]:
        """Return time, outcome and profile of the verdicts of each run, the oldest first."""
        found: dict[str, list[tuple[datetime, str, str]]] = defaultdict(list)
        verdicts = Verdict.objects.filter(run__in=list(self._ids)).select_related("profile")
        for verdict in verdicts.defer("document", "profile__document").order_by("created_at", "pk"):
            found[self._ids[verdict.run_id]].append((verdict.created_at, verdict.outcome, str(verdict.profile)))
        return found

    def _read_replaced(self) -> dict[str, list[tuple[datetime, dict[str, Any]]]]:
        """Return the earlier values of each run with the time at which they were replaced, the oldest first."""
        found: dict[str, list[tuple[datetime, dict[str, Any]]]] = defaultdict(list)
        columns = ("tps", "device_count", "facts__is_virtual_device")
        earlier = EarlierResult.objects.filter(run__in=list(self._ids)).order_by("replaced_at")
        paths = [f"document__columns__{column}" for column in columns]
        for run_id, at, tps, device_count, is_on_no_drive in earlier.values_list("run", "replaced_at", *paths):
            values = {"tps": _decimal(tps), "device_count": device_count, "is_on_no_drive": is_on_no_drive}
            found[self._ids[run_id]].append((at, values))
        # A catalogue changes only published runs, which have no earlier results.
        changed = Event.objects.filter(kind=CATALOGUE_CHANGED, subject_type="run", subject_id__in=self._ids.values())
        corrected = changed.filter(details__has_any_keys=list(CORRECTED)).order_by("at", "pk")
        for public_id, at, details in corrected.values_list("subject_id", "at", "details"):
            found[public_id].append((at, _replaced_values(details)))
        return found
