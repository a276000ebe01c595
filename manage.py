#!/usr/bin/env python3
"""Run a management command of the register: `manage.py up` starts everything."""

import os
import select
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line
from django.db.utils import OperationalError

from webapp.supervisor.data_directory import missing_addresses

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
    if sys.argv[1:2] != ["up"]:
        # While a register runs, a command works on that register; nothing is started for it.
        os.environ.update(missing_addresses(dict(os.environ)))
    try:
        execute_from_command_line(sys.argv)
        sys.stdout.flush()
    except BrokenPipeError:
        output = select.poll()
        output.register(sys.stdout, 0)
        if not output.poll(0):  # another pipe or socket broke
            raise
        # The reader, such as `head`, closed the pipe. Discard the rest, which Python would write when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except ImproperlyConfigured as error:
        sys.exit(f"{error}. All settings: docs/reference/settings.md")
    except OperationalError:
        if os.environ.get("DATABASE_URL") or os.environ.get("DATABASE_URL_FILE"):
            raise
        place = os.environ.get("DRIVECERT_DATA") or "var/"
        sys.exit(
            f"No register runs on {place}, and DATABASE_URL is unset: set DRIVECERT_DATA to the data directory of the "
            "register that runs, or DATABASE_URL to its database. All settings: docs/reference/settings.md"
        )
