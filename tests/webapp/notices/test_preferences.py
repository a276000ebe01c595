"""Each change, once a day, or none: chosen on the account page, by the link in a mail, or by a mail program."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.test import Client

from results.models import Submission
from tests.results.builders import log_bytes, make_user
from tests.results.builders import send as send_log
from webapp.notices.delivery import deliver
from webapp.notices.gathering import digest_moment, gather
from webapp.notices.kinds import Audience, Kind
from webapp.notices.models import Frequency, Mail, MailPreference, Notice, frequency_of
from webapp.notices.outbox import notify
from webapp.notices.preferences import preference_link, set_frequency

pytestmark = pytest.mark.django_db
SITE = "https://drivecert.example"


@pytest.fixture
def mailed(mail_server, declined, sweep_mail):
    """The message of a mail to vera."""
    declined()
    sweep_mail()
    (message,) = mail_server.messages
    return message


def path_of(message):
    (link,) = re.findall(r"^<(\S+)>$", message["List-Unsubscribe"].strip())
    assert link in message.get_content()
    assert link.startswith(SITE)
    return link.removeprefix(SITE)


def test_a_mail_program_ends_mail_with_one_request(mailed, declined, mail_server, sweep_mail, vera):
    assert mailed["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    browser = Client(enforce_csrf_checks=True)
    assert browser.post(path_of(mailed), {"List-Unsubscribe": "One-Click"}).status_code == 200
    assert frequency_of(vera.pk) == Frequency.NONE
    declined()
    sweep_mail(days=2)
    assert len(mail_server.messages) == 1
    assert set(Notice.objects.values_list("state", flat=True)) == {"mailed", "dropped"}


def test_one_click_is_offered_over_https_only(mail_server, declined, sweep_mail, settings):
    settings.PUBLIC_URL = "http://127.0.0.1:8000"
    declined()
    sweep_mail()
    assert mail_server.messages[0]["List-Unsubscribe-Post"] is None
    assert mail_server.messages[0]["List-Unsubscribe"].strip().startswith("<http://127.0.0.1:8000/mail/")


def test_following_the_link_changes_nothing_and_one_click_on_its_page_does(mailed, vera):
    browser = Client(enforce_csrf_checks=True)
    page = browser.get(path_of(mailed))
    assert frequency_of(vera.pk) == Frequency.EACH
    assert re.findall(r'name="frequency" value="(\w+)"', page.text) == ["daily", "none"]
    assert "noindex" in page.headers["X-Robots-Tag"]
    assert "no-store" in page.headers["Cache-Control"]
    for frequency in ("daily", "none", "each"):
        assert "Changed." in browser.post(path_of(mailed), {"frequency": frequency}).text
        assert frequency_of(vera.pk) == frequency


def test_an_unknown_choice_changes_nothing(mailed, vera, as_user):
    answer = Client().post(path_of(mailed), {"frequency": "<b>hourly"})
    assert (answer.status_code, answer.headers["Content-Type"]) == (400, "text/plain; charset=utf-8")
    assert "'<b>hourly'. Expected one of each, daily, none." in answer.text
    assert as_user(vera).post("/accounts/mail/frequency/", {"frequency": "hourly"}).status_code == 400
    assert not MailPreference.objects.exists()


def test_a_link_is_of_one_user_and_ends_with_the_address(mailed, vera, exemplar, client):
    walter = make_user("walter", exemplar)
    path = path_of(mailed)
    foreign = path.replace(f"/{vera.pk}/", f"/{walter.pk}/")
    for wrong in (foreign, path[:-2] + "/", "/mail/99999999/abc/"):
        assert client.post(wrong, {"frequency": "none"}).status_code == 404
    vera.emailaddress_set.update(email="new@example.org")
    assert client.post(path, {"frequency": "none"}).status_code == 404
    assert "the account is closed and gets no mail" in client.get(path).text
    assert not MailPreference.objects.exists()


def test_nothing_of_a_link_is_stored(mailed, settings, vera):
    signature = path_of(mailed).split("/")[3]
    values = [str(value) for model in (Mail, Notice, MailPreference) for value in model.objects.values_list()]
    assert not [value for value in values if signature in value]
    settings.SECRET_KEY = "another"
    assert signature not in preference_link(vera, "vera@example.org")


def test_the_account_page_changes_the_choice_with_one_click(as_user, vera):
    client = as_user(vera)
    page = client.get("/accounts/").text
    assert "Mail about changes</th><td>for each change " in page
    assert re.findall(r'name="frequency" value="(\w+)"', page) == ["daily", "none"]
    page = client.post("/accounts/mail/frequency/", {"frequency": "daily"}, follow=True).text
    assert "Mail about changes</th><td>once a day " in page
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(vera)
    assert browser.post("/accounts/mail/frequency/", {"frequency": "none"}).status_code == 403
    assert Client().post("/accounts/mail/frequency/", {"frequency": "none"}).status_code == 302
    assert frequency_of(vera.pk) == Frequency.DAILY


def test_none_does_not_stop_mail_about_the_account(client, vera, mail_server):
    set_frequency(vera, Frequency.NONE)
    client.post("/accounts/password/reset/", {"email": "vera@example.org"})
    assert [message["To"] for message in mail_server.messages] == ["vera@example.org"]


def test_the_daily_mail_has_all_changes_before_its_hour_once(
    mail_server, declined, vera, settings, exemplar, submission
):
    settings.DIGEST_HOUR = 7
    set_frequency(vera, Frequency.DAILY)
    hour = datetime(2026, 11, 28, 7, tzinfo=UTC)
    other = send_log(exemplar, log_bytes("slow-disk-ms"))
    Notice.objects.all().delete()
    declined()
    notify(Kind.QUESTION, ("submission", other.public_id), [vera], Audience.MEMBERS,
           details={"reason": "Which firmware?", "deadline": "2026-12-05T12:00:00+00:00"})  # fmt: skip
    Notice.objects.update(created_at=hour - timedelta(seconds=1))
    declined(reason="After the hour.")
    Notice.objects.filter(created_at__gt=hour).update(created_at=hour)

    assert gather(hour + timedelta(seconds=29)) == 0
    assert gather(hour + timedelta(seconds=30)) == 1
    assert gather(hour + timedelta(hours=24)) == 0
    Mail.objects.update(next_attempt_at=hour)
    deliver(hour)
    (message,) = mail_server.messages
    assert message["Subject"] == "Drivecert: 2 changes, 1 waits for you"
    text = message.get_content()
    assert text.index(f"Submission {submission.public_id}") < text.index(f"Submission {other.public_id}")
    assert "You must act. Answer the question on the page of the submission.\nDeadline: 5 December 2026, 12:00" in text
    assert "After the hour." not in text
    assert gather(hour + timedelta(days=1, seconds=30)) == 1


def test_changes_of_one_submission_within_half_a_minute_are_one_mail(submission, declined, vera, exemplar):
    first = Notice.objects.count()
    assert first == 0
    declined()
    declined()
    at = Notice.objects.order_by("pk").first().created_at
    assert gather(at + timedelta(seconds=29)) == 0
    assert gather(at + timedelta(seconds=30)) == 1
    assert Mail.objects.get().notices.count() == 2
    assert Submission.objects.count() == 1


@pytest.mark.parametrize(("now", "day"), [("07:00:00", 28), ("06:59:59", 27)])
def test_the_moment_of_the_daily_mail_is_the_newest_one(settings, now, day):
    settings.DIGEST_HOUR = 7
    moment = digest_moment(datetime.fromisoformat(f"2026-11-28T{now}+00:00"))
    assert moment == datetime(2026, 11, day, 7, tzinfo=UTC)


def test_a_user_who_returns_to_each_gets_what_waited(mail_server, declined, sweep_mail, vera):
    set_frequency(vera, Frequency.DAILY)
    declined()
    created_at = Notice.objects.get().created_at
    before_the_hour = digest_moment(created_at) + timedelta(hours=23)
    assert gather(max(before_the_hour, created_at + timedelta(minutes=1))) == 0
    set_frequency(vera, Frequency.EACH)
    sweep_mail(minutes=1)
    assert len(mail_server.messages) == 1
