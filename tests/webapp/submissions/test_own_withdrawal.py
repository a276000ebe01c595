"""The withdrawal on the page of a submission."""

import pytest

from results.ingest.queue import sweep
from results.models import Run
from tests.results.builders import log_bytes, send

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("evidence_dir", "stand_in")]


@pytest.fixture
def page(exemplar, vera):
    submission = send(exemplar, log_bytes("four-us"), vera)
    sweep()
    return f"/submissions/{submission.public_id}/"


def test_the_sender_withdraws_with_a_reason_and_returns_it(as_user, vera, page):
    client = as_user(vera)
    assert f'action="{page}own-withdrawal/"' in client.get(page).text
    refused = client.post(f"{page}own-withdrawal/", {"reason": ""}, follow=True).text
    assert "Enter a reason." in refused
    answer = client.post(f"{page}own-withdrawal/", {"reason": "wrong drive"}, follow=True).text
    assert "withdrawn by its sender" in answer
    assert "wrong drive" in answer
    assert f'action="{page}own-withdrawal/"' not in answer
    client.post(f"{page}own-return/")
    assert Run.objects.get().visibility == "unreviewed"


def test_a_reviewer_and_a_stranger_do_not_withdraw_for_the_sender(as_user, rita, otto, page):
    assert as_user(rita).post(f"{page}own-withdrawal/", {"reason": "x"}).status_code == 403
    assert as_user(otto).post(f"{page}own-withdrawal/", {"reason": "x"}).status_code == 404
    assert f'action="{page}own-withdrawal/"' not in as_user(rita).get(page).text
    assert Run.objects.get().visibility == "unreviewed"
