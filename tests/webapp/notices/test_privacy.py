"""Unpublished facts reach only people who may read them when the mail is sent."""

import pytest

from results.ingest.queue import sweep
from tests.results.builders import log_bytes, make_organisation, make_user
from tests.results.builders import send as send_log
from webapp.notices import messages
from webapp.notices.kinds import Audience, Kind
from webapp.notices.models import Frequency, Mail
from webapp.notices.outbox import notify
from webapp.notices.preferences import set_frequency

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("evidence_dir", "stand_in")]


def test_another_organisation_gets_no_mail(mail_server, exemplar, vera, otto, olga, sweep_mail):
    send_log(exemplar, log_bytes("four-us"))
    sweep()
    sweep_mail()
    assert {message["To"] for message in mail_server.messages} == {"vera@example.org"}


@pytest.mark.parametrize("lost", ["membership", "account"])
def test_a_member_who_left_before_the_mail_gets_none(mail_server, declined, sweep_mail, vera, lost):
    declined()
    if lost == "membership":
        vera.memberships.all().delete()
    else:
        type(vera).objects.filter(pk=vera.pk).update(is_active=False)
    sweep_mail()
    assert mail_server.messages == []
    assert (Mail.objects.get().state, Mail.objects.get().code) == ("dropped", messages.NO_ACCESS)


def test_a_member_who_leaves_between_two_attempts_gets_none(mail_server, declined, sweep_mail, vera):
    declined()
    mail_server.answers["vera@example.org"] = ["451 Later"]
    sweep_mail()
    vera.memberships.all().delete()
    sweep_mail(minutes=5)
    assert mail_server.messages == []


@pytest.mark.parametrize(
    ("audience", "role"), [(Audience.REVIEWERS, "is_reviewer"), (Audience.OPERATORS, "is_operator")]
)
def test_a_role_that_ended_before_the_mail_ends_it(mail_server, sweep_mail, submission, audience, role):
    user, former = make_user("uma", **{role: True}), make_user("fritz", **{role: True})
    notify(Kind.IN_REVIEW, ("submission", submission.public_id), [user, former], audience)
    type(user).objects.filter(pk=former.pk).update(**{role: False})
    sweep_mail()
    assert [message["To"] for message in mail_server.messages] == ["uma@example.org"]


def test_a_digest_leaves_out_what_its_recipient_may_no_longer_read(mail_server, sweep_mail, declined, vera):
    other = make_organisation("other")
    left = send_log(other, log_bytes("slow-disk-ms"))
    notify(Kind.DECLINED, ("submission", left.public_id), [vera], Audience.MEMBERS)
    declined()
    set_frequency(vera, Frequency.DAILY)
    sweep_mail(days=1)
    (message,) = mail_server.messages
    assert message["Subject"] == "Drivecert: 1 change"
    assert left.public_id not in message.get_content()


def test_a_subject_of_an_unknown_type_is_never_mailed(mail_server, sweep_mail, vera):
    notify(Kind.PUBLISHED, ("secret", "1"), [vera], Audience.MEMBERS)
    sweep_mail()
    assert Mail.objects.get().state == "dropped"


def test_a_withheld_log_shows_only_its_own_figures(mail_server, exemplar, vera, sweep_mail):
    submission = send_log(exemplar, log_bytes("four-us"))
    sweep()
    run = submission.runs.get()
    verdict = run.verdicts.first()
    type(verdict).objects.filter(pk=verdict.pk).update(headline="passes; the side file says SECRET")
    type(submission.log).objects.update(sequestered=True)
    sweep_mail()
    (message,) = mail_server.messages
    assert "SECRET" not in message.get_content()
    assert run.public_id in message.get_content()
