"""Migrations are complete, and each can be taken back and applied again."""

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from results.models import Profile

OURS = ("accounts", "results", "runners")


@pytest.mark.django_db
def test_no_model_change_lacks_its_migration():
    call_command("makemigrations", check=True, dry_run=True, verbosity=0)


@pytest.mark.django_db(transaction=True)
def test_the_profile_is_there_after_a_step_back_and_forward():
    executor = MigrationExecutor(connection)
    newest = [leaf for leaf in executor.loader.graph.leaf_nodes() if leaf[0] in OURS]
    executor.migrate([("results", "0002_append_only")])
    MigrationExecutor(connection).migrate(newest)
    assert Profile.objects.filter(name="operational-database", rule_version=1).count() == 1


@pytest.mark.django_db(transaction=True)
def test_all_of_our_tables_can_be_dropped_and_made_again():
    executor = MigrationExecutor(connection)
    newest = [leaf for leaf in executor.loader.graph.leaf_nodes() if leaf[0] in OURS]
    executor.migrate([("runners", None), ("accounts", "0001_user"), ("results", None)])
    assert "results_run" not in connection.introspection.table_names()
    MigrationExecutor(connection).migrate(newest)
    assert Profile.objects.count() == 1
