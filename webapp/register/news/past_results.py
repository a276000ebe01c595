"""Results as they were at an earlier moment, so that news of an ended month stay as they were."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from results.models import EarlierResult, Event, Run, Verdict

CATALOGUE_CHANGED = "run-changed"  # with old and new value of each column that a catalogue corrected


@dataclass(frozen=True)
class PastResult:
    """Speed, outcome and profile of a run at a moment; outcome and profile are empty without a verdict."""

    tps: Decimal | None
    outcome: str = ""
    profile: str = ""


class PastResults:
    """The earlier speeds and verdicts of some runs, in three queries for any number of runs."""

    def __init__(self, runs: Iterable[Run]) -> None:
        self._ids = {run.pk: run.public_id for run in runs}
        self._verdicts = self._read_verdicts()
        self._speeds = self._read_speeds()

    def at(self, run: Run, moment: datetime) -> PastResult:
        """Return what the register showed of a run at a moment, its first verdict if it had none yet."""
        replaced = (tps for replaced_at, tps in self._speeds[run.public_id] if replaced_at > moment)
        tps = next(replaced, run.tps)
        verdicts = self._verdicts[run.public_id]
        if not verdicts:
            return PastResult(tps)
        known = [verdict for verdict in verdicts if verdict[0] <= moment]
        _, outcome, profile = (known or verdicts[:1])[-1]
        return PastResult(tps, outcome, profile)

    def _read_verdicts(self) -> dict[str, list[tuple[datetime, str, str]]]:
        """Return time, outcome and profile of the verdicts of each run, the oldest first."""
        found: dict[str, list[tuple[datetime, str, str]]] = defaultdict(list)
        verdicts = Verdict.objects.filter(run__in=list(self._ids)).select_related("profile")
        for verdict in verdicts.defer("document", "profile__document").order_by("created_at", "pk"):
            found[self._ids[verdict.run_id]].append((verdict.created_at, verdict.outcome, str(verdict.profile)))
        return found

    def _read_speeds(self) -> dict[str, list[tuple[datetime, Decimal | None]]]:
        """Return the earlier speeds of each run with the time at which each was replaced, the oldest first."""
        found: dict[str, list[tuple[datetime, Decimal | None]]] = defaultdict(list)
        earlier = EarlierResult.objects.filter(run__in=list(self._ids)).order_by("replaced_at")
        for run_id, at, tps in earlier.values_list("run", "replaced_at", "document__columns__tps"):
            found[self._ids[run_id]].append((at, None if tps is None else Decimal(tps)))
        # A catalogue changes only published runs, which have no earlier results.
        changed = Event.objects.filter(kind=CATALOGUE_CHANGED, subject_type="run", subject_id__in=self._ids.values())
        with_speed = changed.filter(details__has_key="tps").order_by("at")
        for public_id, at, tps in with_speed.values_list("subject_id", "at", "details__tps__0"):
            found[public_id].append((at, Decimal(tps)))
        return found
