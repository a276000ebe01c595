"""The code of the previous release, which runs on the database of this one while the register is upgraded.

COMMIT is the commit before the first migration that must keep that release working
(tests/checks/test_migration_rules.py). Change it with each release; then write SCHEMA again:

    python -m tests.previous_release
"""

import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from django.conf import settings
from django.db import connection

ROOT = Path(__file__).resolve().parent.parent
COMMIT = "a2f593341213e57f71eb3eaac576e24c45f77262"
SCHEMA = ROOT / "tests/data/previous_release.json"
PATHS = ("manage.py", "webapp", "results", "runners", "static", "docs", ":!runners/drivetest", ":!docs/pictures")
COLUMNS = """
import json, django
django.setup()
from django.apps import apps
tables = {
    model._meta.db_table: sorted(field.column for field in model._meta.local_concrete_fields)
    for model in apps.get_models(include_auto_created=True)
}
print(json.dumps(tables))
"""


def is_known() -> bool:
    """Return whether this clone has the commit: a shallow clone, or an archive, does not."""
    command = ["git", "cat-file", "-e", f"{COMMIT}^{{commit}}"]
    return subprocess.run(command, cwd=ROOT, check=False, capture_output=True).returncode == 0


def extract(directory: Path) -> Path:
    """Write the sources of the release into a directory, and return it."""
    command = ["git", "archive", "--format=tar", COMMIT, "--", *PATHS]
    content = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        archive.extractall(directory, filter="data")
    return directory


def environment(data_dir: Path) -> dict[str, str]:
    """Return the environment of its processes: the database and the broker of the test, and today's drivetest."""
    database = connection.settings_dict
    url = f"postgresql://{database['USER']}:{database['PASSWORD']}@/{database['NAME']}?host={database['HOST']}"
    own = {"DATABASE_URL": url, "REDIS_URL": settings.REDIS_URL, "DRIVECERT_DATA": str(data_dir)}
    own |= {"DJANGO_SETTINGS_MODULE": "webapp.settings", "DRIVETEST": str(settings.DRIVETEST)}
    return os.environ | own | {"PUBLISHED_CATALOGUE": "no", "EXAMPLE_RUNS": "no"}


def columns_of(tree: Path) -> dict[str, list[str]]:
    """Return the columns of each table as the models of a tree name them."""
    own = os.environ | {"DJANGO_SETTINGS_MODULE": "webapp.settings"}
    command = [sys.executable, "-c", COLUMNS]
    printed = subprocess.run(command, cwd=tree, env=own, check=True, capture_output=True, text=True).stdout
    found: dict[str, list[str]] = json.loads(printed)
    return found


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        columns = columns_of(extract(Path(name)))
        SCHEMA.write_text(json.dumps({"commit": COMMIT, "tables": columns}, indent=1, sort_keys=True) + "\n")
