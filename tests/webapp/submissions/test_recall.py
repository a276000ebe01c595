"""A run that was recalled while other runs of its log wait or are public: listed for review and decided again."""

import pytest

from results.lifecycle import visibility
from results.models import Run
from tests.results.rows import from_a_log, make_product

pytestmark = pytest.mark.django_db


@pytest.fixture
def submission(db):
    product, of_log = make_product(), from_a_log()
    of_log["submission"].product = product
    of_log["submission"].save()
    for ordinal, state in enumerate(("public", "embargoed")):
        stated = {"tier": "reviewed", "statistic": "worst-slice", "visibility": state, "predates_approvals": True}
        Run.objects.create(product=product, ordinal=ordinal, **stated | of_log)
    return of_log["submission"]


def test_a_recalled_run_is_in_the_review_list_and_is_published_from_its_page(as_user, rita, submission):
    client, page = as_user(rita), f"/submissions/{submission.public_id}/"
    assert submission.public_id not in client.get("/submissions/review/").text
    visibility.recall(submission.runs.get(visibility="embargoed"), rita, "the wrong product")
    assert submission.public_id in client.get("/submissions/review/").text
    text = client.get(page).text
    assert "other runs of this submission are public already" in text
    assert f'action="{page}publish/"' in text
    client.post(f"{page}publish/")
    assert {run.visibility for run in submission.runs.all()} == {"public"}
    assert submission.public_id not in client.get("/submissions/review/").text


def test_a_declined_recalled_run_leaves_the_list_and_can_still_be_published(as_user, rita, submission):
    client, page = as_user(rita), f"/submissions/{submission.public_id}/"
    visibility.recall(submission.runs.get(visibility="embargoed"), rita, "cut short")
    client.post(f"{page}decline/", {"reason": "cut short"})
    assert submission.public_id not in client.get("/submissions/review/").text
    assert "This submission was declined. It can still be published." in client.get(page).text
