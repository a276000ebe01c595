"""The migration of secret links: those that were sent before keep working for 90 days."""

from datetime import timedelta

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from results.access.links import is_opened_by
from results.models import Submission
from tests.results.builders import log_bytes, make_organisation, send


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_links_of_earlier_releases_work_for_90_days(evidence_dir, stand_in):
    send(make_organisation(), log_bytes("bom-utf8"))
    newest = MigrationExecutor(connection).loader.graph.leaf_nodes()
    MigrationExecutor(connection).migrate([("results", "0028_confirmed_organisations")])
    with connection.cursor() as cursor:
        cursor.execute("UPDATE results_submission SET link_key = 'pW3xTq8ZbN0yLr5cKd7vHg'")
    MigrationExecutor(connection).migrate(newest)
    submission = Submission.objects.get()
    assert is_opened_by(submission, "pW3xTq8ZbN0yLr5cKd7vHg")
    assert not is_opened_by(submission, "another")
    assert abs(submission.link_expires_at - timezone.now() - timedelta(days=90)) < timedelta(minutes=5)
