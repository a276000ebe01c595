"""`manage.py alive PART`: whether a part of the register gave a sign of life lately, for health checks."""

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from kombu.exceptions import KombuError
from redis import RedisError

from webapp.celery import PARTS, WORKER_TTL_S, app, beat_limit_s, living_parts


class Command(BaseCommand):
    help = (
        "Exit with status 0 if beat, a worker or a worker of the lab reported through the broker within its limit, "
        "else with 1 and the reason. A part that runs on several machines is alive while one of them reports."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("part", choices=PARTS)

    def handle(self, *args: Any, **options: Any) -> None:
        part, limit_s = options["part"], beat_limit_s() if options["part"] == "beat" else WORKER_TTL_S
        try:
            with app.connection_for_read() as broker:
                is_alive = living_parts(broker)[part]
        except (RedisError, KombuError, OSError) as error:
            self.stderr.write(f"{part}: unknown, because the broker does not answer: {error}. Start Redis first.")
            sys.exit(1)
        if not is_alive:
            self.stderr.write(f"{part}: no heartbeat in the last {limit_s} s. Start it, and read its log.")
            sys.exit(1)
        self.stdout.write(f"{part}: alive, with a heartbeat in the last {limit_s} s")
