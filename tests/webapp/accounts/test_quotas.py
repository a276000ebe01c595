"""The page of the limits of an organisation: the numbers are those of the modules that refuse."""

from datetime import timedelta

import pytest
from django.utils import timezone

from results import locks
from results.intake.uploads import QuotaReachedError, add_file, create_draft, draft_usage
from results.models import Draft
from tests.results.builders import log_bytes, make_user, other_session, send
from webapp.accounts.quotas import quotas_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("evidence_dir")]


def quota(organisation, label):
    return next(each for each in quotas_of(organisation) if each.label == label)


def test_drafts_use_files_and_bytes_until_they_expire(vera, exemplar, settings):
    settings.DRAFT_FILES_MAX = 2
    drafts = [create_draft(exemplar, vera) for _ in range(2)]
    for draft in drafts:
        add_file(draft, "load.log", 10**6)
    Draft.objects.filter(pk=drafts[0].pk).update(expires_at=timezone.now() + timedelta(days=1))
    drafts[0].refresh_from_db()
    files, size = quota(exemplar, "Files of drafts"), quota(exemplar, "Bytes of drafts")
    assert (files.used, files.most, files.is_used_up, files.free_at) == ("2", "2", True, drafts[0].expires_at)
    assert (size.used, size.is_used_up) == ("2\N{NO-BREAK SPACE}MB", False)
    with pytest.raises(QuotaReachedError):
        add_file(drafts[1], "more.log", 1)
    Draft.objects.filter(pk=drafts[0].pk).update(expires_at=timezone.now())
    assert quota(exemplar, "Files of drafts").used == "1"
    assert draft_usage(exemplar.pk).total_bytes == 10**6


def test_readings_and_validations_are_counted_while_they_last(vera, exemplar):
    first, _ = send(exemplar, log_bytes("four-us"), vera), send(exemplar, log_bytes("slow-disk-ms"), vera)
    assert quota(exemplar, "Logs that are read").used == "0, and 2 waiting"
    reading = first.log.readings.get()
    first.log.readings.update(state="reading")
    with other_session() as worker:
        worker.execute("SELECT pg_advisory_lock(%s, %s)", [locks.READING, reading.pk])
        worker.execute("SELECT pg_advisory_lock(%s, %s)", [locks.VALIDATION, exemplar.pk])
        assert quota(exemplar, "Logs that are read").used == "1, and 1 waiting"
        assert quota(exemplar, "Logs that the API validates").is_used_up
    assert quota(exemplar, "Logs that are read").used == "0, and 2 waiting"
    assert not quota(exemplar, "Logs that the API validates").is_used_up


def test_members_read_the_limits_of_their_own_organisation_only(as_user, vera, otto, exemplar):
    viewer = make_user("vito")
    viewer.memberships.create(organisation=exemplar, role="viewer")
    address = "/accounts/organisations/exemplar/quotas/"
    for person in (vera, viewer):
        client = as_user(person)
        assert f'href="{address}"' in client.get("/accounts/organisations/exemplar/members/").text
        page = client.get(address).text
        assert all(label in page for label in ("Files of drafts", "Bytes of drafts", "Open invitations"))
    assert as_user(otto).get(address).status_code == 404
