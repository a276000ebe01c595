"""An embargoed run: on no public page, in no file and in no response before its minute; visible to its owners."""

import pytest
from django.utils import timezone

from results.lifecycle.embargo import disclose_due
from results.models import Run, Submission, Visibility
from tests.results.builders import link_key
from webapp.accounts.models import Membership
from webapp.register.syndication.public_addresses import public_addresses
from webapp.templatetags import units

pytestmark = pytest.mark.django_db
MODEL, VENDOR = "HUSH9000", "Hushmaker"
FILES = ("log", "lines/1/", "telemetry.json", "again.conf", "earlier/1.json")  # the others are its own addresses


def addresses():
    return {address.path for address in public_addresses()}


def status_of(client, path):
    answer = client.get(path)
    assert not answer.streaming or answer.getvalue()  # read to its end, which closes the file
    return answer.status_code


def text_of(answer):
    return b"".join(answer).decode("utf-8", "replace")


@pytest.fixture
def run(make_embargoed_run, make_product, make_published_run):
    make_published_run()
    return make_embargoed_run(product=make_product(model=MODEL, vendor=VENDOR, slug="hush-9000"))


@pytest.fixture
def own_addresses(run):
    """The data of the run that is public only after the embargo."""
    now = addresses()
    Run.objects.filter(pk=run.pk).update(visibility=Visibility.PUBLIC, predates_approvals=True)
    own = addresses() - now
    Run.objects.filter(pk=run.pk).update(visibility=Visibility.EMBARGOED)
    return own


def test_its_own_addresses_exist_only_after_the_minute(client, own_addresses):
    assert any(path.startswith("/drive/hush-9000/") for path in own_addresses)
    assert any(path.startswith("/vendors/hushmaker/") for path in own_addresses)
    assert {status_of(client, path) for path in own_addresses} == {404}
    Submission.objects.update(embargo_until=timezone.now())
    assert disclose_due() == 1
    assert {path: status_of(client, path) for path in own_addresses} == dict.fromkeys(own_addresses, 200)


def test_no_public_page_or_file_mentions_it(client, run):
    for path in addresses():
        text = text_of(client.get(path))
        assert run.public_id not in text, path
        assert MODEL not in text, path
        assert VENDOR not in text, path


@pytest.mark.parametrize("path", ["/sizing/?reads=1000&writes=500", "/drives/nvme-flash/?withdrawn=1", "/api/v1/runs/"])
def test_no_answer_to_a_query_has_it(client, run, path):
    text = text_of(client.get(path))
    assert run.public_id not in text
    assert MODEL not in text


@pytest.mark.parametrize("path", ["/search/?q=hush9000", "/api/v1/products/", "/drives/nvme-flash/?q=hush9000"])
def test_no_search_finds_it(client, run, path):
    assert "hush-9000" not in text_of(client.get(path))


@pytest.mark.parametrize("download", FILES)
def test_strangers_do_not_find_its_files(client, run, download):
    assert client.get(f"/runs/{run.public_id}/{download}").status_code == 404


@pytest.mark.parametrize("path", ["/api/v1/runs/{}/", "/api/v1/runs/{}/intervals/", "/id/{}"])
def test_it_is_not_found_by_its_id(client, run, path):
    answer = client.get(path.format(run.public_id))
    assert answer.status_code == 404
    assert MODEL not in answer.text


def test_it_is_not_compared(client, run):
    shown = Run.objects.public().get()
    assert client.get(f"/compare/?run={shown.public_id}&run={run.public_id}").status_code == 404


def test_a_fleet_check_does_not_find_its_product(client, run):
    answer = client.generic("POST", "/api/v1/check/", f"model,firmware\n{MODEL},F1\n", "text/csv")
    assert answer.json()["rows"][0]["state"] == "unknown"


def test_its_organisation_sees_it_and_the_end_of_the_embargo(client, run, make_user):
    member = make_user()
    Membership.objects.create(user=member, organisation=run.submission.organisation, role="owner")
    client.force_login(member)
    answer = client.get(f"/runs/{run.public_id}/")
    assert f"The run is under embargo until {units.moment(run.submission.embargo_until)}" in answer.text
    assert "private" in answer.headers["Cache-Control"]


def test_a_reviewer_sees_it(staff_client, run):
    assert "The run is under embargo until" in staff_client.get(f"/runs/{run.public_id}/").text


def test_a_holder_of_the_link_sees_it(client, run):
    assert client.get(f"/runs/{run.public_id}/?key={link_key(run.submission)}").status_code == 200
