"""`manage.py sequester`: withhold a public run for legal reasons, as one operator requests it."""

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand, CommandError

from results.errors import ReviewRefusedError
from results.lifecycle.takedowns import request_takedown
from results.models import Run, Takedown


class Command(BaseCommand):
    help = "Withhold a public run at once. Another operator has to confirm it at /takedowns/ within 72 hours."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("run", help="public id of the run, such as r-7kd2m9qp")
        parser.add_argument("--operator", required=True, help="username of the operator who requests it")
        parser.add_argument("--ground", required=True, choices=Takedown.Ground.values, help="shown to everyone")
        parser.add_argument("--note", default="", help="for operators only")

    def handle(self, *args: Any, **options: Any) -> None:
        operators = get_user_model().objects.filter(is_operator=True, is_active=True)
        operator = operators.filter(username=options["operator"]).first()
        if operator is None:
            raise CommandError(f"--operator: expected the username of an operator, got {options['operator']}")
        run = Run.objects.filter(public_id=options["run"]).first()
        if run is None:
            raise CommandError(f"expected the public id of a run, got {options['run']}")
        try:
            takedown = request_takedown(run, operator, Takedown.Ground(options["ground"]), options["note"])
        except ReviewRefusedError as refusal:
            raise CommandError(str(refusal)) from refusal
        self.stdout.write(
            f"{run.public_id} is withheld. Without the confirmation of another operator at /takedowns/, it returns on "
            f"{takedown.lapses_at:%Y-%m-%d %H:%M} UTC."
        )
