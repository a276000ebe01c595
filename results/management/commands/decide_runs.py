"""`manage.py decide_runs`: annotate, retract, withdraw or reinstate many runs with one reason."""

from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.models import AbstractBaseUser
from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from results.errors import ReviewRefusedError
from results.lifecycle import visibility
from results.lifecycle.corrections import annotate, retract
from results.models import Annotation, Run
from results.rules.plural import counted

# Options that select runs, each with its column. A selected run meets all that are given.
CHOICES = {
    "organisation": ("submission__organisation__slug", "slug of the organisation that submitted them"),
    "tool_version": ("tool_version", "version of the program that measured, such as 6.6"),
    "firmware": ("firmware", "of the drive, as stated"),
    "finding": ("findings__rule_id", "id of one of their findings (docs/reference/findings.md)"),
    "reader_version": ("reading__reader_version", "version of drivetest that read them"),
}


def _retract(run: Run, actor: AbstractBaseUser, text: str) -> None:
    annotation = Annotation.objects.current().filter(run=run, text=text.strip()).first()
    if annotation is None:
        raise ReviewRefusedError("No current annotation has this text. Give the text as the run page shows it.")
    retract(annotation, actor, "retracted in bulk")


# `annotate` and `retract` take the text of the annotation instead of a reason.
DECISIONS: dict[str, Callable[[Run, AbstractBaseUser, str], object]] = {
    "annotate": lambda run, actor, text: annotate(run, text, actor),
    "retract": _retract,
    "withdraw": visibility.withdraw,
    "reinstate": visibility.reinstate,
}


class Command(BaseCommand):
    help = "Apply one decision to all public runs that match the options; --dry-run only lists them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("decision", choices=sorted(DECISIONS))
        for name, (_, meaning) in CHOICES.items():
            parser.add_argument(f"--{name.replace('_', '-')}", default="", help=meaning)
        parser.add_argument("--reason", required=True, help="reason; text of the annotation to annotate or retract")
        parser.add_argument("--actor", required=True, help="username of the reviewer who decides")
        parser.add_argument("--dry-run", action="store_true", help="print only; nothing is written")

    def handle(self, *args: Any, **options: Any) -> None:
        chosen = {column: options[name] for name, (column, _) in CHOICES.items() if options[name]}
        if not chosen:  # it would be every public run of the register
            raise CommandError(f"expected at least one of --{', --'.join(CHOICES).replace('_', '-')}")
        actor = get_user_model().objects.filter(username=options["actor"], is_reviewer=True, is_active=True).first()
        if actor is None:
            raise CommandError(f"--actor: expected the username of a reviewer, got {options['actor']}")
        done, refused = [], []
        runs = Run.objects.public().filter(pk__in=Run.objects.filter(**chosen).values("pk"))
        for run in runs.select_related("submission").order_by("pk"):
            try:
                with transaction.atomic():
                    result = DECISIONS[options["decision"]](run, actor, options["reason"])
                    transaction.set_rollback(options["dry_run"])
                is_waiting = result is False  # only a step that needs another approval returns it
                done.append(run.public_id + (": approved; another reviewer has to approve it" if is_waiting else ""))
            except ReviewRefusedError as refusal:
                refused.append(f"refused: {run.public_id}: {refusal}")
        would = "would " if options["dry_run"] else ""
        summary = f"{would}{options['decision']}: {counted(len(done), 'run')}; refused: {len(refused)}"
        self.stdout.write("\n".join([summary, *done, *refused]))
