"""What the status page shows: the present state of each part, and the days of the last 90 with a problem."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from webapp.status.models import Part, PartDay, PartState
from webapp.status.recording import FREE_BYTES_WORKING, READING_LATE_S, READING_STUCK_S
from webapp.templatetags import units

SHOWN_DAYS = 90
DAY_MINUTES = 24 * 60
UNRECORDED_AFTER = timedelta(minutes=5)
# So few minutes are no problem: a restart, or a task that was late.
UNNOTICED_MINUTES = 5

NAMES = {
    Part.PAGES: "Public pages",
    Part.UPLOADS: "Uploads",
    Part.READINGS: "Readings of logs",
    Part.LAB: "Lab",
}
STATE_WORDS = {
    PartState.WORKING: "working",
    PartState.DEGRADED: "slow or limited",
    PartState.DOWN: "not working",
    PartState.UNRECORDED: "not recorded",
}
STATE_MEANINGS = {
    PartState.WORKING: "The part works without delay.",
    PartState.DEGRADED: (
        f"Pages load slower than usual, there is room for less than {units.size(FREE_BYTES_WORKING)} of uploads, a log "
        f"has waited for over {units.duration(READING_LATE_S)} to be read, or the lab asks its hosts too late."
    ),
    PartState.DOWN: (
        f"Uploads cannot be stored, a log has waited for over {units.duration(READING_STUCK_S)} to be read, or the lab "
        "starts no runs."
    ),
    PartState.UNRECORDED: (
        "The database, the broker or the worker of the register was down, so nothing recorded the state. Runs of the "
        "lab continue on their hosts meanwhile."
    ),
}


@dataclass(frozen=True)
class PartLine:
    """A part: its name, its present state, and the share of the recorded minutes in which it worked."""

    name: str
    state: PartState
    working_pct: float | None
    recorded_minutes: int

    @property
    def recorded(self) -> str:
        """Return the recorded time: whole days, below two days hours and minutes."""
        days = self.recorded_minutes // DAY_MINUTES
        return units.counted(days, "day") if days > 1 else units.duration(self.recorded_minutes * 60)

    @property
    def words(self) -> str:
        """Return the state in words."""
        return STATE_WORDS[self.state]


@dataclass(frozen=True)
class ProblemLine:
    """A day on which a part had a problem, with the minutes of each state."""

    day: date
    name: str
    state: PartState
    down_minutes: int
    degraded_minutes: int
    unrecorded_minutes: int

    @property
    def words(self) -> str:
        """Return the worst state of the day in words."""
        return STATE_WORDS[self.state]


def state_meanings() -> list[tuple[str, str]]:
    """Return each state in words, with its meaning."""
    return [(STATE_WORDS[state], meaning) for state, meaning in STATE_MEANINGS.items()]


def present_state(row: PartDay | None, now: datetime) -> PartState:
    """Return the last state of a part if it is recent."""
    if row is None or now - row.last_at > UNRECORDED_AFTER:
        return PartState.UNRECORDED
    return PartState(row.last_state)


def part_lines(rows: Iterable[PartDay], now: datetime) -> list[PartLine]:
    """Return a line for each part."""
    by_part: dict[str, list[PartDay]] = {part: [] for part in Part}
    for row in rows:
        by_part[row.part].append(row)
    lines = []
    for part in Part:
        days = sorted(by_part[part], key=lambda row: row.day)
        working = sum(row.working_minutes for row in days)
        recorded = working + sum(row.degraded_minutes + row.down_minutes for row in days)
        share = 100 * working / recorded if recorded else None
        lines.append(PartLine(NAMES[part], present_state(days[-1] if days else None, now), share, recorded))
    return lines


def problem_lines(rows: Iterable[PartDay], first_days: Mapping[str, date], now: datetime) -> list[ProblemLine]:
    """Return the days with a problem, the newest first. `rows` are of the last SHOWN_DAYS, in any order.

    `first_days` is the day of the first row of each part. It began in its middle, so that its missing minutes are no
    problem. A later day without a row is one on which the register was down all day.
    """
    found = {(row.day, row.part): row for row in rows}
    lines = []
    for day in shown_days(now):
        for part in Part:
            row = found.get((day, part))
            if part not in first_days or day < first_days[part] or (row is None and day == now.date()):
                continue
            row = row or PartDay(part=part, day=day)
            unrecorded = 0 if day == first_days[part] else _unrecorded_minutes(row, now)
            minutes = {
                PartState.DOWN: row.down_minutes,
                PartState.DEGRADED: row.degraded_minutes,
                PartState.UNRECORDED: unrecorded,
            }
            worst = next((state for state, count in minutes.items() if count > UNNOTICED_MINUTES), None)
            if worst is not None:
                lines.append(ProblemLine(day, NAMES[part], worst, row.down_minutes, row.degraded_minutes, unrecorded))
    return lines


def shown_days(now: datetime) -> list[date]:
    """Return the days of the page, the newest first."""
    return [now.date() - timedelta(days=days) for days in range(SHOWN_DAYS)]


def _unrecorded_minutes(row: PartDay, now: datetime) -> int:
    expected = now.hour * 60 + now.minute if row.day == now.date() else DAY_MINUTES
    return max(0, expected - row.working_minutes - row.degraded_minutes - row.down_minutes)
