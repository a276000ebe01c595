"""Who may object to which result, how often, and the attachments."""

import io
import threading
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from results.errors import ReviewRefusedError
from results.evidence.store import open_evidence
from results.lifecycle.objection_filing import (
    FILES_MAX,
    PERIOD,
    TEXT_CHARS_MAX,
    Attachment,
    ObjectionQuotaError,
    file_objection,
    usage_of_account,
    usage_of_organisation,
)
from results.lifecycle.objections import withdraw
from results.models import Evidence, Objection
from tests.results.builders import make_organisation, make_user
from tests.results.fixtures import evidence_dir
from tests.results.rows import from_a_log, make_product, make_run

__all__ = ["evidence_dir"]
pytestmark = pytest.mark.django_db
HTML = b"<script>alert(1)</script>"


@pytest.fixture
def run(db):
    return make_run(make_product(), **from_a_log())


@pytest.fixture
def fiona(db):
    return make_user("fiona")


def other_run():
    return make_run(make_product(), **from_a_log())


def file_for(content, name="proof.html"):
    return Attachment(name, io.BytesIO(content))


def test_a_user_without_an_organisation_objects(run, fiona):
    objection = file_objection(run, fiona, "  Wrong.  ")
    assert (objection.text, objection.organisation, objection.organisations) == ("Wrong.", None, [])


def test_the_organisations_of_the_filer_are_stored(run):
    first, second = make_organisation("first"), make_organisation("second")
    objection = file_objection(run, make_user("fiona", first, second), "Wrong.", first)
    assert (objection.organisation, objection.organisations) == (first, sorted([first.pk, second.pk]))
    with pytest.raises(ReviewRefusedError, match="You are no member of Third"):
        file_objection(other_run(), objection.filed_by, "Wrong.", make_organisation("third"))


def test_nobody_objects_to_a_result_of_an_own_organisation(run):
    with pytest.raises(ReviewRefusedError, match="Your organisation submitted"):
        file_objection(run, make_user("sender", run.submission.organisation), "Wrong.")
    assert not Objection.objects.exists()


@pytest.mark.parametrize(
    ("visibility", "is_possible"),
    [("public", True), ("superseded", True), ("withdrawn", False), ("unreviewed", False), ("retracted", False)],
)
def test_only_a_public_result_that_is_not_withdrawn(run, fiona, visibility, is_possible):
    successor = run if visibility == "superseded" else None
    run = make_run(run.product, visibility=visibility, superseded_by=successor, **from_a_log())
    if is_possible:
        file_objection(run, fiona, "Wrong.")
    else:
        with pytest.raises(ReviewRefusedError, match=f"is {visibility}"):
            file_objection(run, fiona, "Wrong.")


def test_a_user_has_one_open_objection_to_a_result(run, fiona):
    first = file_objection(run, fiona, "Wrong.")
    with pytest.raises(ReviewRefusedError, match=f"{first.public_id} to this result is not decided"):
        file_objection(run, fiona, "Wrong again.")
    withdraw(first, fiona)
    file_objection(run, fiona, "Wrong again.")


def test_the_quota_of_an_account_counts_24_hours(run, fiona, settings, monkeypatch):
    settings.OBJECTIONS_PER_ACCOUNT = 2
    first = file_objection(run, fiona, "Wrong.")
    file_objection(other_run(), fiona, "Wrong.")
    with pytest.raises(ObjectionQuotaError, match="You have filed 2 objections") as error:
        file_objection(other_run(), fiona, "Wrong.")
    assert error.value.free_at == first.filed_at + PERIOD
    assert usage_of_account(fiona).used == 2
    file_objection(other_run(), make_user("other"), "Wrong.")
    monkeypatch.setattr(timezone, "now", lambda: first.filed_at + PERIOD - timedelta(microseconds=1))
    with pytest.raises(ObjectionQuotaError):
        file_objection(other_run(), fiona, "Wrong.")
    monkeypatch.setattr(timezone, "now", lambda: first.filed_at + PERIOD)
    file_objection(other_run(), fiona, "Wrong.")


def test_the_quota_of_an_organisation_counts_all_its_members(run, settings):
    settings.OBJECTIONS_PER_ORGANISATION = 1
    first, second = make_organisation("first"), make_organisation("second")
    file_objection(run, make_user("fiona", first, second), "Wrong.", second)
    with pytest.raises(ObjectionQuotaError, match="Members of First have filed 1"):
        file_objection(other_run(), make_user("felix", first), "Wrong.", first)
    assert (usage_of_organisation(first.pk).used, usage_of_organisation(second.pk).used) == (1, 1)
    file_objection(other_run(), make_user("other"), "Wrong.")


def test_the_text_has_a_limit(run, fiona):
    with pytest.raises(ReviewRefusedError, match="Enter what is wrong"):
        file_objection(run, fiona, "  ")
    with pytest.raises(ReviewRefusedError, match="at most 10,000 characters of text, got 10,001"):
        file_objection(run, fiona, "x" * (TEXT_CHARS_MAX + 1))
    file_objection(run, fiona, "x" * TEXT_CHARS_MAX)


def test_attachments_are_stored_as_evidence_under_their_hash(run, fiona, evidence_dir):
    objection = file_objection(run, fiona, "Wrong.", None, [file_for(HTML), file_for(HTML, "copy.html"), file_for(b"")])
    files = list(objection.files.all())
    assert [(file.filename, file.size_bytes) for file in files] == [("proof.html", len(HTML)), ("proof.html", 0)]
    with open_evidence(files[0]) as stored:
        assert stored.read() == HTML
    assert Evidence.objects.count() == 1, "of the log: attachments belong to no organisation"


def test_more_files_than_allowed_are_refused_and_none_is_stored(run, fiona, evidence_dir):
    files = [file_for(bytes([number])) for number in range(FILES_MAX + 1)]
    with pytest.raises(ReviewRefusedError, match="at most 5 files, got 6"):
        file_objection(run, fiona, "Wrong.", None, files)
    assert not list(evidence_dir.rglob("*/*/*"))
    assert file_objection(run, fiona, "Wrong.", None, files[:FILES_MAX]).files.count() == FILES_MAX


@pytest.mark.django_db(transaction=True)
def test_of_two_requests_at_once_the_quota_refuses_one(settings, fiona):
    settings.OBJECTIONS_PER_ACCOUNT = 1
    runs, barrier, refused = [other_run(), other_run()], threading.Barrier(2), []

    def file_one(run):
        try:
            barrier.wait()
            file_objection(run, fiona, "Wrong.")
        except ObjectionQuotaError as error:
            refused.append(str(error))
        finally:
            connection.close()

    threads = [threading.Thread(target=file_one, args=[run]) for run in runs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (Objection.objects.count(), len(refused)) == (1, 1)
