"""The time of a run in pieces: the minutes that are kept of it, else its slices."""

from dataclasses import dataclass

from results.access.histogram_slices import histogram_slices
from results.access.intervals import minutes_of
from results.access.series import intervals
from results.models import Histogram, Run

ALWAYS_S = 10**9  # the latest second that drivetest believes


@dataclass(frozen=True)
class Counted:
    """A piece of a run's time and what one histogram counted in it, by bucket; None where that is not known."""

    start_s: int
    end_s: int
    counts: list[int] | None

    @property
    def ops_count(self) -> int:
        """All operations of the piece."""
        return sum(self.counts or [])


@dataclass(frozen=True)
class Pieces:
    """All pieces of a run in order of time; `kind` is "minutes" or "slices"."""

    kind: str
    pieces: list[Counted]


def has_minutes(run: Run) -> bool:
    """Tell whether minutes are kept of a run that lasted one."""
    return hasattr(run, "series") and run.series.intervals_count > 0


def pieces_of(run: Run, histogram: Histogram) -> Pieces:
    """Return a run's time as one of its histograms counted it. Raises WithheldError and SeriesDamagedError."""
    if not has_minutes(run):
        slices = histogram_slices(run.slices.of_histogram(histogram.ordinal))
        return Pieces("slices", [Counted(each.start_s, each.end_s, list(each.counts)) for each in slices])
    own = range(histogram.ordinal, histogram.ordinal + 1)
    told = intervals(minutes_of(run), 0, ALWAYS_S, own)
    return Pieces("minutes", [Counted(each.start_s, each.end_s, each.counts[0]) for each in told])
