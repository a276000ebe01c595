import pytest

from tests.results.builders import make_user
from tests.results.rows import make_product


@pytest.fixture
def rita(db):
    return make_user("rita", is_reviewer=True)


@pytest.fixture
def product(db):
    return make_product(model="EX4", part_number="", capacity_gb=960)
