"""A withheld run: on no public page, in no file and in no response; its page remains as a stub."""

import shutil

import pytest
from allauth.mfa.totp.internal.auth import (
    TOTP,
    format_hotp_value,
    generate_totp_secret,
    hotp_value,
    yield_hotp_counters_from_time,
)
from django.utils import timezone

from results.lifecycle.takedowns import RULE, end_takedown, request_takedown, sweep_takedowns
from results.models import Run, Takedown
from tests.results.builders import link_key, make_user
from webapp.accounts.models import Membership, User
from webapp.notices.models import Notice
from webapp.notices.sentences import step_lines
from webapp.register.dumps import store as dumps_store
from webapp.register.dumps.importer import read_rows
from webapp.register.dumps.writer import write_dump
from webapp.register.syndication.public_addresses import public_addresses
from webapp.templatetags.units import moment

pytestmark = pytest.mark.django_db
MODEL, VENDOR = "HUSH9000", "Hushmaker"
PASSWORD = "correct horse battery"
FILES = ("log", "lines/1/", "slices.csv", "slices/1/", "histograms.csv", "again.conf", "earlier/1.json")


def addresses():
    return {address.path for address in public_addresses()}


def text_of(answer):
    return b"".join(answer).decode("utf-8", "replace")


@pytest.fixture
def olga(db):
    return make_user("olga", is_operator=True, password=PASSWORD)


@pytest.fixture
def omar(db):
    return make_user("omar", is_operator=True, password=PASSWORD)


@pytest.fixture
def run(make_log_run, make_product, make_published_run):
    make_published_run()
    return make_log_run(product=make_product(model=MODEL, vendor=VENDOR, slug="hush-9000"))


@pytest.fixture
def takedown(run, olga):
    return request_takedown(run, olga, Takedown.Ground.COURT_ORDER, "Case 471")


def sign_in(client, user):
    client.logout()
    client.post("/accounts/login/", {"login": user.username, "password": PASSWORD})
    return client


def test_no_public_page_or_file_mentions_it(client, run, takedown):
    for path in addresses():
        text = text_of(client.get(path))
        assert run.public_id not in text, path
        assert MODEL not in text, path
        assert VENDOR not in text, path


def test_its_own_addresses_are_gone_at_once_and_return_with_it(client, run, olga):
    public = addresses()
    takedown = request_takedown(run, olga, Takedown.Ground.COURT_ORDER)
    gone = public - addresses()
    assert any(path.startswith("/drive/hush-9000/") for path in gone)
    assert {client.get(path).status_code for path in gone} == {404, 451}
    end_takedown(takedown, olga, "Settled.")
    assert addresses() == public


@pytest.mark.parametrize(
    "path", ["/api/v1/runs/", "/search/?q=hush9000", "/drives/nvme-flash/?withdrawn=1", "/feed.atom"]
)
def test_no_answer_to_a_query_has_it(client, run, takedown, path):
    text = text_of(client.get(path))
    assert run.public_id not in text
    assert "hush-9000" not in text


def test_its_page_is_a_stub_for_everyone_but_operators(client, run, takedown, olga):
    Membership.objects.create(user=make_user("vera"), organisation=run.submission.organisation, role="owner")
    path, key = f"/runs/{run.public_id}/", link_key(run.submission)
    make_user("rita", is_reviewer=True)
    for name, address in (("", path), ("", f"{path}?key={key}"), ("vera", path), ("rita", path)):
        client.logout()
        if name:
            client.force_login(User.objects.get(username=name))
        answer = client.get(address)
        assert answer.status_code == 451
        assert "is withheld for legal reasons" in answer.text
        assert "The ground is a court order" in answer.text
        assert "Without the confirmation of a second operator" in answer.text
        assert MODEL not in answer.text
        assert "Case 471" not in answer.text
        assert answer.headers["Cache-Control"] == "no-store"
    client.force_login(olga)
    answer = client.get(path)
    assert answer.status_code == 200
    assert "private" in answer.headers["Cache-Control"]


@pytest.mark.parametrize("name", FILES)
def test_nothing_of_it_is_sent(client, run, takedown, name):
    assert client.get(f"/runs/{run.public_id}/{name}").status_code == 451


def test_the_api_does_not_send_it(client, run, takedown):
    assert client.get(f"/api/v1/runs/{run.public_id}/").status_code == 404
    assert client.get(f"/api/v1/runs/{run.public_id}/intervals/").status_code == 451


def test_the_page_of_its_submission_shows_no_figures(client, run, takedown):
    text = client.get(f"/submissions/{run.submission.public_id}/?key={link_key(run.submission)}").text
    assert "is withheld for legal reasons. Only operators see it." in text
    assert "slices" not in text.split("What the reader found")[1].split("</section>")[0]


def test_dumps_with_it_are_removed_at_once(django_capture_on_commit_callbacks, run, olga):
    today = write_dump()
    shutil.copytree(today, today.with_name("2026-01-01"))
    with django_capture_on_commit_callbacks(execute=True):
        request_takedown(run, olga, Takedown.Ground.COURT_ORDER)
    assert list(dumps_store.dumps()) == []
    assert run.public_id not in {row["public_id"] for row in _rows(write_dump())}


def _rows(directory):
    return read_rows(dumps_store.read_dump(directory), "runs")


def test_two_operators_take_a_result_down_with_the_pages(client, run, olga, omar):
    sign_in(client, olga)
    stated = {"run": run.public_id, "ground": "legal-claim", "note": "Letter of 3 May"}
    answer = client.post("/takedowns/", stated, follow=True)
    assert "Another operator has to confirm it." in answer.text
    assert "Confirm takedown" not in answer.text
    takedown = Takedown.objects.get()
    answer = client.post(f"/takedowns/{takedown.pk}/confirm/", follow=True)
    assert "You requested the takedown" in answer.text
    assert "Letter of 3 May" in sign_in(client, omar).get("/takedowns/").text
    assert "is confirmed" in client.post(f"/takedowns/{takedown.pk}/confirm/", follow=True).text
    takedown.refresh_from_db()
    assert takedown.confirmed_by == omar
    answer = client.post(f"/takedowns/{takedown.pk}/end/", {"reason": "Settled"}, follow=True)
    assert "is public again" in answer.text
    assert Run.objects.get(pk=run.pk).visibility == "public"


def test_an_operator_who_signed_in_long_ago_is_asked_again(client, takedown, omar):
    client.force_login(omar)
    answer = client.post(f"/takedowns/{takedown.pk}/confirm/")
    assert (answer.status_code, answer.headers["Location"].split("?")[0]) == (302, "/accounts/reauthenticate/")
    takedown.refresh_from_db()
    assert takedown.confirmed_at is None


def test_who_has_a_second_factor_confirms_with_it(client, takedown, omar):
    secret = generate_totp_secret()
    TOTP.activate(omar, secret)
    client.force_login(omar)
    client.post("/accounts/reauthenticate/", {"password": PASSWORD})
    answer = client.post(f"/takedowns/{takedown.pk}/confirm/")
    assert answer.headers["Location"].split("?")[0] == "/accounts/2fa/reauthenticate/"
    takedown.refresh_from_db()
    assert takedown.confirmed_at is None
    code = format_hotp_value(hotp_value(secret, sorted(yield_hotp_counters_from_time())[1]))
    client.post(answer.headers["Location"], {"code": code})
    takedown.refresh_from_db()
    assert takedown.confirmed_by == omar


def test_the_other_operators_and_the_members_are_notified(run, olga, omar):
    vera = make_user("vera", run.submission.organisation)
    request_takedown(run, olga, Takedown.Ground.COURT_ORDER)
    kinds = set(Notice.objects.values_list("recipient__username", "kind"))
    assert ("omar", "takedown-waits") in kinds
    assert ("vera", "sequestered") in kinds
    assert not any(name == "olga" for name, _ in kinds)
    assert vera.notices.get().details["run"] == run.public_id


def test_before_a_request_lapses_the_operators_who_can_confirm_it_are_reminded(monkeypatch, run, olga, omar):
    takedown = request_takedown(run, olga, Takedown.Ground.COURT_ORDER)
    Notice.objects.all().delete()
    monkeypatch.setattr(timezone, "now", lambda: takedown.lapses_at - RULE.reminder_lead)
    sweep_takedowns()
    notice = Notice.objects.get()
    assert (notice.recipient, notice.kind, notice.audience) == (omar, "takedown-deadline-near", "operators")
    assert f"Deadline: {moment(takedown.lapses_at)}" in step_lines(notice)
