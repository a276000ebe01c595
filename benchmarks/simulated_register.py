"""A register with its own empty database, a lab and a user who orders, for benchmarks."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "webapp.settings")

import django

django.setup()

from django.db import connection  # noqa: E402

from results.evidence.store import prepare_store  # noqa: E402
from results.models import Organisation  # noqa: E402
from webapp.accounts.models import User  # noqa: E402


@contextmanager
def simulated_register() -> Iterator[tuple[Organisation, Any]]:
    """Yield the lab and the ordering user; drop the database afterwards."""
    name = connection.settings_dict["NAME"]
    connection.creation.create_test_db(verbosity=0, autoclobber=True)
    prepare_store(is_new=True)
    try:
        lab = Organisation.objects.create(slug="a-lab", name="A lab", kind="lab", confirmed_at="2026-01-01T00:00Z")
        yield lab, User.objects.create_user("sam", is_reviewer=True, is_operator=True)
    finally:
        connection.creation.destroy_test_db(name, verbosity=0)
