"""Generated requests to the API in a small form; `make measure-machines` sends many more."""

import api_conformance
import pytest

from tests.results.builders import make_organisation, make_user
from tests.web_server import web_server
from webapp.accounts.models import Scope
from webapp.accounts.tokens.rules import issue_token

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]


def test_generated_requests_find_no_violation(tmp_path):
    lab = make_organisation("lab")
    everyone = make_user("olga", lab, is_operator=True, is_reviewer=True)
    tokens = [issue_token(everyone, lab, f"script {n}", list(Scope))[1] for n in range(20)]
    with web_server(tmp_path, TRUSTED_PROXY_COUNT="1") as server:
        url, phases = f"http://127.0.0.1:{server.port}", "fuzzing,stateful"
        report = api_conformance.violations(url, tokens, tmp_path / "api.json", examples=1, phases=phases)
    assert report["failures"] == [], report["output"]
    assert report["operations"]["tested"] == report["operations"]["total"]
    assert report["phases"]["stateful"]["status"] == "success"
