"""Counts of limits that begin at zero in each test: the tests of one worker share a Redis and a client address."""

import pytest
from django.core.cache import cache

from webapp.access_limits import process_limits
from webapp.access_limits.shared_limits import forget_all


@pytest.fixture(autouse=True)
def no_earlier_requests():
    """Forget what earlier tests counted: sign-ins, requests and readings, in Redis and in this process."""
    forget_all()
    process_limits.forget_all()
    cache.clear()
