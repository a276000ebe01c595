"""Objections in a dump and after its import: the same bytes, shown as those of the other register."""

import json
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.utils import timezone

from results.errors import ReviewRefusedError
from results.lifecycle.objection_filing import file_objection
from results.lifecycle.objections import admit, decide, may_reply, refuse, reply, sweep_objections
from results.models import Event, Objection, ObjectionState
from results.models.objection import ADMITTED_STATES
from tests.results.builders import make_organisation, make_user
from webapp.register.dumps.importer import import_dump
from webapp.register.dumps.store import MANIFEST
from webapp.register.dumps.writer import write_dump

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]
TEXTS = ('=cmd|"x"!', "two\nlines, \\ and \\N", "\u202e Ж漢", "<script>alert(1)</script>", "tab\there", "{}")
FILES = ("objections.json.gz", "objections.csv.gz", "objections.parquet")


def fill(make_log_run, monkeypatch):
    """Make one objection in each admitted state, one to a result without a submitter, and two that are not public."""
    filing = make_organisation("filing")
    rita = make_user("rita", is_reviewer=True)
    run = make_log_run()
    sender = make_user("sender", run.submission.organisation)
    made = {}
    for number, state in enumerate(ADMITTED_STATES):
        filer = make_user(f"filer-{number}", filing)
        made[state] = file_objection(run, filer, TEXTS[number], filing)
        admit(made[state], rita)
        if state in {"in-decision", "upheld", "rejected", "decision-overdue"}:
            reply(made[state], sender, TEXTS[-number])
    decide(made[ObjectionState.UPHELD], rita, Objection.Outcome.ANNOTATE, TEXTS[1])
    decide(made[ObjectionState.REJECTED], rita, Objection.Outcome.KNOWN, TEXTS[2])
    pass_limit(made[ObjectionState.UNANSWERED], monkeypatch)
    pass_limit(made[ObjectionState.DECISION_OVERDUE], monkeypatch)
    refuse(file_objection(run, make_user("refused"), "Private."), rita, Objection.Refusal.UNCLEAR)
    file_objection(run, make_user("waiting"), "Private.")
    assert {each.state for each in Objection.objects.admitted()} == set(ADMITTED_STATES)


def pass_limit(objection, monkeypatch):
    Objection.objects.filter(pk=objection.pk).update(deadline=timezone.now() - timedelta(seconds=1))
    assert sweep_objections() == 1


def bytes_of(directory):
    return {name: (directory / name).read_bytes() for name in FILES}


@pytest.fixture
def mirror(make_log_run, monkeypatch, data_dir, settings):
    """A register with the dump of another one; returns the directory of that dump."""
    settings.PUBLIC_URL = "https://register.example"
    fill(make_log_run, monkeypatch)
    directory = write_dump().rename(data_dir / "elsewhere")
    call_command("flush", interactive=False)
    import_dump(directory)
    return directory


def test_an_import_and_a_new_dump_give_the_same_bytes(mirror):
    assert Objection.objects.count() == len(ADMITTED_STATES)
    assert b"Private." not in b"".join(bytes_of(mirror).values())
    assert bytes_of(write_dump()) == bytes_of(mirror)


def test_nobody_of_this_register_acts_on_them_and_no_limit_passes(mirror):
    rita, events = make_user("rita", is_reviewer=True), Event.objects.count()
    objection = Objection.objects.get(state="in-decision")
    with pytest.raises(ReviewRefusedError, match="Only that register decides"):
        decide(objection, rita, Objection.Outcome.KNOWN, "No.")
    assert not any(may_reply(each) for each in Objection.objects.all())
    assert not Objection.objects.waiting().exists()
    Objection.objects.filter(deadline__isnull=False).update(deadline=timezone.now() - timedelta(days=1))
    assert sweep_objections() == 0
    assert Event.objects.count() == events


def test_their_pages_name_the_other_register(mirror, client):
    for objection in Objection.objects.all():
        page = client.get(f"/objections/{objection.public_id}/").content.decode()
        assert "From another register." in page
        assert f'href="https://register.example/objections/{objection.public_id}/"' in page
        assert "a user of another register" in page
    assert client.get("/objections/").status_code == 200
    run = Objection.objects.first().run.public_id
    assert client.get(f"/runs/{run}/").content.decode().count('class="tag">in decision<') >= 1


def test_a_reviewer_is_not_offered_a_decision(mirror, client):
    client.force_login(make_user("rita", is_reviewer=True))
    objection = Objection.objects.get(state="in-decision")
    page = client.get(f"/review/objections/{objection.public_id}/").content.decode()
    assert "Uphold" not in page


def test_a_dump_of_an_earlier_release_has_no_objections(make_published_run, data_dir):
    make_published_run()
    directory = write_dump().rename(data_dir / "elsewhere")
    manifest = (directory / MANIFEST).read_text()
    for name in FILES:
        assert name in manifest
        (directory / name).unlink()
    document = json.loads(manifest)
    document["files"] = [each for each in document["files"] if each["name"] not in FILES]
    (directory / MANIFEST).write_text(json.dumps(document))
    call_command("flush", interactive=False)
    assert "objections" not in import_dump(directory).rows


@pytest.mark.parametrize("columns", [{"state": "received"}, {"reply": "", "replied_at": timezone.now()}])
def test_the_database_still_refuses_a_state_without_its_facts(mirror, columns):
    objection = Objection.objects.get(state="in-decision")
    with pytest.raises(IntegrityError), transaction.atomic():
        Objection.objects.filter(pk=objection.pk).update(**columns)
