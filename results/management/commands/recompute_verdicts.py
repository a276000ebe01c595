"""`manage.py recompute_verdicts`: re-evaluate stored logs after a new reader or rule version."""

from argparse import ArgumentParser
from collections import Counter
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from results.models import Run, Submission
from results.reader.process import ReaderBrokenError
from results.reevaluation.recompute import KINDS, SAME, Order, Report, recompute
from results.rules.plural import counted

TO_FORCE = "A newer reader version or rule version makes work: see drivetest --version and the table of profiles."


class Command(BaseCommand):
    help = "Print what a new reader or rule version changes, counts first, or apply it with a reason."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="print only; nothing is written")
        parser.add_argument("--reason", default="", help="why, for the history of every run; needed without --dry-run")
        parser.add_argument("--limit", type=int, help="read at most so many logs")
        parser.add_argument("--run", action="append", default=[], help="only the log of this run; may come again")
        parser.add_argument("--after", default="", help="begin after this submission, which an earlier call ended at")

    def handle(self, *args: Any, **options: Any) -> None:
        order = _order(options)
        try:
            report = recompute(order)
        except ReaderBrokenError as error:
            raise CommandError(str(error)) from error
        self._print_report(report, order)

    def _print_report(self, report: Report, order: Order) -> None:
        by = f"drivetest {report.reader_version} and profile {report.profile}"
        self.stdout.write(f"Looked at {counted(report.runs_count, 'run')} read from a log, by {by}.")
        if not report.cases and not report.remaining:
            self.stdout.write(f"Nothing to do: each is judged by this reader and these rules. {TO_FORCE}")
            return
        would = "would become of" if order.is_dry else "became of"
        self.stdout.write(f"What {would} {counted(len(report.cases), 'case')}:")
        counts = Counter(case.kind for case in report.cases)
        for kind in KINDS:
            self.stdout.write(f"{counts[kind]:>8}  {kind}")
        for case in report.cases:
            if case.kind != SAME:
                self.stdout.write(str(case))
        if report.remaining:
            more = f"go on with --after {report.last_submission_id}"
            self.stdout.write(f"{counted(report.remaining, 'log')} still to be re-evaluated; {more}")


def _order(options: dict[str, Any]) -> Order:
    if not options["dry_run"] and not options["reason"].strip():
        raise CommandError("--reason: expected why the runs are re-evaluated, or --dry-run")
    if options["limit"] is not None and options["limit"] < 1:
        raise CommandError(f"--limit: expected 1 or more, got {options['limit']}")
    for run_id in options["run"]:
        if not Run.objects.filter(public_id=run_id, reading__isnull=False).exists():
            raise CommandError(f"--run: expected a run that was read from a log, got {run_id}")
    if options["after"] and not Submission.objects.filter(public_id=options["after"]).exists():
        raise CommandError(f"--after: expected a submission, got {options['after']}")
    return Order(options["reason"], options["dry_run"], options["limit"], tuple(options["run"]), options["after"])
