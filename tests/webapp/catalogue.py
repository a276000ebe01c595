"""Fixtures of tests that read the published results."""

import pytest


@pytest.fixture
def catalogue(catalogue_database, db):
    """The published results: a test that names this fixture works in a database that has them."""


@pytest.fixture(autouse=True)
def database_of_the_test(request):
    """Select the database with the catalogue before another fixture of the test writes to the default one."""
    if "catalogue" not in request.fixturenames:
        yield
        return
    request.getfixturevalue("db")
    with request.getfixturevalue("catalogue_database").in_transaction():
        yield
