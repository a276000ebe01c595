import pytest

from tests.results.fixtures import evidence_dir, program, real_reader, stand_in
from webapp.celery import app

__all__ = ["evidence_dir", "program", "real_reader", "stand_in"]


@pytest.fixture
def no_broker():
    before = app.conf.broker_url
    app.conf.update(broker_url="redis+socket:///nowhere/redis.sock")
    yield
    app.conf.update(broker_url=before)
