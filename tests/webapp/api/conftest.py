import pytest
from django.test import Client

from tests.results.fixtures import evidence_dir, no_broker, program, real_reader, stand_in
from tests.webapp.catalogue import catalogue, database_of_the_test
from tests.webapp.people import as_user, connection_queries, exemplar, otto, rita, vera
from webapp.accounts.tokens.rules import issue_token

__all__ = [
    "as_user", "catalogue", "connection_queries", "database_of_the_test", "evidence_dir", "exemplar", "no_broker",
    "otto", "program", "real_reader", "rita", "stand_in", "vera",
]  # fmt: skip


@pytest.fixture
def script(vera, exemplar):
    """Send requests as a script of Exemplar does."""
    _, secret = issue_token(vera, exemplar, "script")
    return Client(headers={"Authorization": f"Bearer {secret}"})
