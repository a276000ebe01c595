"""New migrations work while processes of the earlier release still run: expand first, contract in a later release."""

import re
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings
from django_migration_linter import MigrationLinter
from django_migration_linter.sql_analyser.analyser import analyse_sql_statements

# The newest migration of each app before the rule. Apps that are not listed are checked from their first one.
BEFORE_THE_RULE = {"results": 61, "runners": 25, "accounts": 11, "notices": 16, "webhooks": 1}
# Reversing is not part of the rule; data is never changed in the transaction of a schema change by chance.
LEFT_OUT = ["RUNPYTHON_REVERSIBLE", "RUNSQL_REVERSIBLE"]


def new_migrations():
    """Yield app label and name of each migration that the rule is for."""
    for app in apps.get_app_configs():
        if not Path(app.path).is_relative_to(settings.BASE_DIR) or ".venv" in app.path:
            continue
        for path in sorted(Path(app.path).glob("migrations/[0-9]*.py")):
            if int(path.name[:4]) > BEFORE_THE_RULE.get(app.label, 0):
                yield app.label, path.stem


@pytest.fixture
def linter(db):
    return MigrationLinter(
        str(settings.BASE_DIR), no_cache=True, analyser_string="postgresql", exclude_migration_tests=LEFT_OUT
    )


def errors_of(linter, app, name):
    found, _, _ = analyse_sql_statements(linter.sql_analyser_class, linter.get_sql(app, name), LEFT_OUT)
    data, _, _ = linter.analyse_data_migration(linter.migration_loader.disk_migrations[app, name])
    return found + data


def test_new_migrations_are_compatible_with_the_earlier_release(linter):
    problems = [
        f"{app}.{name}: {error.code}: {error.message}"
        for app, name in new_migrations()
        for error in errors_of(linter, app, name)
    ]
    assert problems == [], "split the change: docs/how-to/upgrade-the-register.md, Migrations of a release"


def test_a_change_that_breaks_the_earlier_release_is_found(linter):
    """Migrations before the rule removed and renamed columns in one step."""
    names = [path.stem for path in (settings.BASE_DIR / "results/migrations").glob("0*.py")
             if re.search(r"RemoveField|RenameField", path.read_text())]  # fmt: skip
    found = {error.code for name in names[:3] for error in errors_of(linter, "results", name)}
    assert found & {"DROP_COLUMN", "RENAME_COLUMN"}
