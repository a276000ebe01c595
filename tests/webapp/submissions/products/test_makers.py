"""The page of makers: reviewers link spellings of vendors to organisations, as the command does."""

import pytest

from results.lifecycle.approvals import barred_organisations
from results.models import Event, Maker
from tests.results.rows import make_product, make_run

pytestmark = pytest.mark.django_db
ADDRESS = "/review/makers/"


@pytest.fixture
def run(exemplar):
    return make_run(make_product(vendor="EXEMPLAR Inc."), visibility="unreviewed")


def link(client, spelling="Exemplar Inc.", organisation="exemplar", reason="imprint"):
    form = {"spelling": spelling, "organisation": organisation, "reason": reason}
    return client.post(ADDRESS, form, follow=True)


def test_a_linked_spelling_bars_the_members_of_the_organisation(as_user, rita, exemplar, run):
    client = as_user(rita)
    assert "<li><bdi>EXEMPLAR Inc.</bdi></li>" in client.get(ADDRESS).text
    assert exemplar.pk not in barred_organisations(run)
    page = link(client).text
    assert "Exemplar Inc. means Exemplar from now on." in page
    assert "<li><bdi>EXEMPLAR Inc.</bdi></li>" not in page
    assert exemplar.pk in barred_organisations(run)
    event = Event.objects.get(kind="maker-linked")
    assert (event.actor, event.subject_id, event.reason) == (rita, "exemplar", "imprint")
    assert event.details == {"spelling": "Exemplar Inc."}


def test_a_link_is_removed_with_a_reason(as_user, rita, exemplar, run):
    client = as_user(rita)
    link(client)
    address = f"{ADDRESS}{Maker.objects.get().pk}/remove/"
    assert "Enter a reason" in client.post(address, follow=True).text
    assert Maker.objects.exists()
    assert "no longer means Exemplar" in client.post(address, {"reason": "sold"}, follow=True).text
    assert exemplar.pk not in barred_organisations(run)
    assert Event.objects.get(kind="maker-unlinked").actor == rita


def test_a_reviewer_removes_no_link_of_their_own_organisation(as_user, rita, exemplar):
    client = as_user(rita)
    link(client)
    rita.memberships.create(organisation=exemplar, role="viewer")
    page = client.post(f"{ADDRESS}{Maker.objects.get().pk}/remove/", {"reason": "sold"}, follow=True).text
    assert "another reviewer has to remove its spellings" in page
    assert Maker.objects.exists()


@pytest.mark.parametrize(
    "stated", [{"spelling": ""}, {"organisation": "nothere"}, {"reason": ""}, {"spelling": "EXEMPLAR INC."}]
)
def test_an_incomplete_or_repeated_link_is_refused(as_user, rita, exemplar, stated):
    client = as_user(rita)
    if stated.get("spelling"):
        link(client)
    before = Maker.objects.count()
    assert link(client, **stated).status_code == 400
    assert Maker.objects.count() == before


def test_only_reviewers_see_and_change_links(as_user, client, vera, exemplar):
    Maker.objects.create(spelling="Exemplar Inc.", organisation=exemplar)
    for person, status in [(as_user(vera), 403), (client, 302)]:
        assert person.get(ADDRESS).status_code == status
        assert person.post(ADDRESS).status_code == status
        assert person.post(f"{ADDRESS}{Maker.objects.get().pk}/remove/", {"reason": "x"}).status_code == status
    assert Maker.objects.exists()
