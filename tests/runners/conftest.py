import pytest

from tests.results.fixtures import evidence_dir, program, real_reader, stand_in
from webapp.celery import app

__all__ = ["evidence_dir", "program", "real_reader", "stand_in"]


@pytest.fixture
def no_broker():
    before = app.conf.broker_url
    use_broker("redis+socket:///nowhere/redis.sock")
    yield
    use_broker(before)


def use_broker(url):
    app.conf.update(broker_url=url)
    vars(app.amqp)["_producer_pool"] = None  # it keeps a connection to the one before
