"""Months in UTC: their addresses, their bounds, and the months for which the register has a summary."""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from django.utils import timezone

from results.models import Event

CODE = re.compile(r"(?P<year>2[0-9]{3})-(?P<number>0[1-9]|1[0-2])")
MONTHS_OF_YEAR = 12


@dataclass(frozen=True, order=True)
class Month:
    """One month in UTC; it includes its first moment and ends before the first moment of the next one."""

    year: int
    number: int

    @property
    def code(self) -> str:
        """Return the part of an address that names it.

        >>> Month(2026, 3).code
        '2026-03'
        """
        return f"{self.year}-{self.number:02d}"

    @property
    def title(self) -> str:
        """Return its name.

        >>> Month(2026, 3).title
        'March 2026'
        """
        return f"{self.start:%B %Y}"

    @property
    def start(self) -> datetime:
        """Return its first moment."""
        return datetime(self.year, self.number, 1, tzinfo=UTC)

    @property
    def end(self) -> datetime:
        """Return the first moment after it."""
        return self.next.start

    @property
    def last_day(self) -> date:
        """Return its last day.

        >>> Month(2028, 2).last_day
        datetime.date(2028, 2, 29)
        """
        return (self.end - timedelta(days=1)).date()

    @property
    def next(self) -> "Month":
        """Return the month after it.

        >>> Month(2026, 12).next, Month(2026, 12).previous
        (Month(year=2027, number=1), Month(year=2026, number=11))
        """
        return self._shifted(1)

    @property
    def previous(self) -> "Month":
        """Return the month before it."""
        return self._shifted(-1)

    @property
    def is_over(self) -> bool:
        """Return whether it has ended, so that its summary no longer gets entries."""
        return timezone.now() >= self.end

    def _shifted(self, months: int) -> "Month":
        year, place = divmod(self.year * MONTHS_OF_YEAR + self.number - 1 + months, MONTHS_OF_YEAR)
        return Month(year, place + 1)


def month_of(moment: datetime) -> Month:
    """Return the month of a moment, in UTC."""
    at = moment.astimezone(UTC)
    return Month(at.year, at.month)


def parse_month(code: str) -> Month | None:
    """Return the month of an address; None if the text names no month.

    >>> parse_month("2026-11"), parse_month("2026-13"), parse_month("2026-1")
    (Month(year=2026, number=11), None, None)
    """
    found = CODE.fullmatch(code)
    return Month(int(found["year"]), int(found["number"])) if found else None


def summary_months(first: Event | None) -> list[Month]:
    """Return the months with a summary, the newest first: from that of the first change to the present one.

    A month in between without a change has a summary too. A register without a public change has the present month.
    """
    present = month_of(timezone.now())
    months = [present]
    while first is not None and months[-1] > month_of(first.at):
        months.append(months[-1].previous)
    return months
