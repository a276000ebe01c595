"""`manage.py check_claims`: recompute what publications claim from the figures that they state."""

from collections.abc import Iterable
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from results.catalogue.claims import CheckedRow, check_published_claims, published_law_checks
from results.rules.act.loads import printed_decimal
from results.rules.ycsb.claims import LittlesLawCheck

HEADINGS = ("line", "publication", "claim", "workload", "stated", "recomputed", "status")


class Command(BaseCommand):
    help = "Recompute every published claim from its publication's own figures, and print value and status."

    def handle(self, *args: Any, **options: Any) -> None:
        rows = check_published_claims()
        for line in _aligned([HEADINGS, *(_cells(row) for row in rows)]):
            self.stdout.write(line)
        self.stdout.write("")
        for line in (*_remarks(rows), *_impossible(published_law_checks())):
            self.stdout.write(line)
        unexplained = [str(row.line) for row in rows if not row.is_as_recorded]
        if unexplained:
            raise CommandError(f"published_claims.csv: lines {', '.join(unexplained)} are not what their figures give")


def _cells(row: CheckedRow) -> tuple[str, ...]:
    claim = row.check.claim
    status = row.check.printed_status.value + (" *" if row.is_exactly_another else "")
    stated = f"{claim.stated_value} {claim.unit}".rstrip()
    return (
        str(row.line),
        claim.publication,
        claim.claim,
        claim.workload,
        stated,
        row.check.printed or "-",
        f"{status} ({row.check.reason.sentence()})" if row.check.reason else status,
    )


def _aligned(rows: list[tuple[str, ...]]) -> Iterable[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for cells in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def _remarks(rows: list[CheckedRow]) -> Iterable[str]:
    same = sum(row.is_as_recorded for row in rows)
    yield (
        f"{same} of {len(rows)} claims as recorded in published_claims.csv, value and status, which judges the "
        "recomputed value as it prints it."
    )
    for row in rows:
        if not row.is_as_recorded:
            yield f"line {row.line}: recorded {row.recorded_value or '-'}, {row.recorded_status}; {_exactly(row)}"
        elif row.is_exactly_another:
            yield f"* line {row.line}: {row.check.printed}, {row.check.printed_status}; {_exactly(row)}"
        elif row.is_in_words:
            yield f"~ line {row.line}: {row.check.claim.stated_value!r} is no number: {row.check.status}"
        elif row.check.span:
            ends = " to ".join(printed_decimal(end, 1) for end in row.check.span)
            yield f"~ line {row.line}: read from a chart, accurate to one digit: {ends}; {row.check.status}"


def _exactly(row: CheckedRow) -> str:
    values = ", ".join(printed_decimal(value, 4) for value in row.check.values)
    return f"exactly {values}: {row.check.status}"


def _impossible(law_checks: Iterable[LittlesLawCheck]) -> Iterable[str]:
    for each in law_checks:
        if not each.law.is_possible:
            in_flight = printed_decimal(each.law.in_flight, 1)
            yield (
                f"{each.publication}, {each.model}, workload {each.workload}: throughput x mean latency is "
                f"{in_flight} operations in flight, and {each.law.threads} threads can have one each"
            )
