"""The process of the simulated lab."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")
django.setup()  # the hosts' protocol is in a Django app; the database is not used

from tests.lab_simulator.server import main  # noqa: E402

main()
