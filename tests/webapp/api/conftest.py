import pytest
from django.core.cache import cache
from django.test import Client

from tests.results.fixtures import evidence_dir, program, real_reader, stand_in
from tests.webapp.people import as_user, connection_queries, exemplar, otto, rita, vera
from webapp.accounts.models import issue_token

__all__ = [
    "as_user", "connection_queries", "evidence_dir", "exemplar", "otto", "program", "real_reader", "rita", "stand_in",
    "vera",
]  # fmt: skip


@pytest.fixture(autouse=True)
def uncounted_requests():
    """Clear what the throttles have counted in other tests."""
    cache.clear()


@pytest.fixture
def script(vera, exemplar):
    """Send requests as a script of Exemplar does."""
    _, secret = issue_token(vera, exemplar, "script")
    return Client(headers={"Authorization": f"Bearer {secret}"})
