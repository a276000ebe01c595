import pytest
from django.core.cache import cache

from tests.results.fixtures import evidence_dir, program, real_reader, stand_in
from tests.webapp.people import as_user, connection_queries, exemplar, otto, rita, vera


@pytest.fixture(autouse=True)
def no_earlier_requests():
    """Forget the requests that earlier tests made within the periods of limits."""
    cache.clear()


__all__ = [
    "as_user", "connection_queries", "evidence_dir", "exemplar", "otto", "program", "real_reader", "rita", "stand_in",
    "vera",
]  # fmt: skip
