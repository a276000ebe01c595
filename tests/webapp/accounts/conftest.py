import pytest
from django.core.cache import cache

from tests.results.fixtures import evidence_dir, program, real_reader, stand_in
from tests.webapp.people import as_user, connection_queries, exemplar, otto, rita, vera
from webapp.access_limits import process_limits
from webapp.access_limits.shared_limits import forget_all


@pytest.fixture(autouse=True)
def no_earlier_requests():
    """Forget the requests that earlier tests made within the periods of limits."""
    forget_all()
    process_limits.forget_all()
    cache.clear()


__all__ = [
    "as_user", "connection_queries", "evidence_dir", "exemplar", "otto", "program", "real_reader", "rita", "stand_in",
    "vera",
]  # fmt: skip
