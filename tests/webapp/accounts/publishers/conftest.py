import pytest

from tests.webapp.accounts.publishers.issuer import running_issuer


@pytest.fixture(scope="module")
def service():
    """Return a CI service that issues identity tokens."""
    with running_issuer() as issuer:
        yield issuer
