"""The process of the simulated lab."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
django.setup()  # the hosts' protocol lies in an app of Django's; the database is never asked

from tests.lab_simulator.server import main  # noqa: E402

main()
