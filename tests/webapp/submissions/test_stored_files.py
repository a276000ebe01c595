import pytest
from django.utils import timezone

from results.models import Scrub, ScrubFault
from tests.results.builders import make_organisation, send, sha256

pytestmark = pytest.mark.django_db
LOG = b"a log"


def make_fault(**columns):
    now = timezone.now()
    fields = {"sha256": sha256(LOG), "size_bytes": 5, "kind": "missing", "first_seen_at": now, "last_seen_at": now}
    return ScrubFault.objects.create(**fields | columns)


def test_operators_see_a_fault_and_the_submission_of_its_file(staff_client, evidence_dir):
    submission = send(make_organisation(), LOG)
    make_fault()
    Scrub.objects.create(started_at=timezone.now(), files_count=7)
    page = staff_client.get("/stored-files/").text
    assert submission.public_id in page
    assert "now, not ended: 7 files" in page


@pytest.mark.parametrize(
    ("columns", "found"),
    [({}, "no file"), ({"kind": "unreadable"}, "no readable file"), ({"kind": "altered", "found_bytes": 1}, "1 byte")],
)
def test_a_fault_states_what_was_found(staff_client, columns, found):
    make_fault(**columns)
    assert f"<dt>Found</dt><dd>{found}</dd>" in staff_client.get("/stored-files/").text


def test_a_closed_fault_is_not_listed_as_a_fault(staff_client, db):
    make_fault(closed_at=timezone.now())
    page = staff_client.get("/stored-files/").text
    assert "No fault is known." in page
    assert "Closed faults" in page


def test_members_do_not_see_the_page(member_client):
    assert member_client.get("/stored-files/").status_code == 403
