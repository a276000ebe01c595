"""`manage.py decide_runs`: annotate, retract, withdraw or reinstate many runs with one reason."""

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError

from results.lifecycle.corrections import DECISIONS, Choice, decide
from results.rules.plural import counted

CHOICES = {
    "organisation": "slug of who sent them",
    "tool_version": "version of the program that measured, such as 6.6",
    "firmware": "of the drive, as stated",
    "finding": "id of a finding of theirs (docs/reference/findings.md)",
    "reader_version": "version of drivetest that read them",
}


class Command(BaseCommand):
    help = "Apply one decision to all public runs that match the options; --dry-run only lists them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("decision", choices=sorted(DECISIONS))
        for name, meaning in CHOICES.items():
            parser.add_argument(f"--{name.replace('_', '-')}", default="", help=meaning)
        parser.add_argument("--reason", required=True, help="why; for annotate and retract the annotation's words")
        parser.add_argument("--actor", required=True, help="username of the reviewer who decides")
        parser.add_argument("--dry-run", action="store_true", help="print only; nothing is written")

    def handle(self, *args: Any, **options: Any) -> None:
        choice = Choice(**{name: options[name] for name in CHOICES})
        if choice.is_empty:
            raise CommandError(f"expected at least one of --{', --'.join(CHOICES).replace('_', '-')}")
        actor = get_user_model().objects.filter(username=options["actor"], is_staff=True, is_active=True).first()
        if actor is None:
            raise CommandError(f"--actor: expected the username of a reviewer, got {options['actor']}")
        outcome = decide(choice.runs(), options["decision"], actor, options["reason"], is_dry=options["dry_run"])
        would = "would " if options["dry_run"] else ""
        self.stdout.write(
            f"{would}{options['decision']}: {counted(len(outcome.done), 'run')}; refused: {len(outcome.refused)}"
        )
        for public_id in outcome.done:
            self.stdout.write(public_id)
        for public_id, sentence in outcome.refused.items():
            self.stdout.write(f"refused: {public_id}: {sentence}")
