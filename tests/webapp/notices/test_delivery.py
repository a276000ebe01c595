"""Delivery over SMTP: accepted, refused for now, refused for ever, no server, and several workers."""

import threading
from datetime import timedelta

import pytest
from django.core.mail import get_connection
from django.db import connections
from django.utils import timezone

from results.lifecycle.review import decline
from tests.results.builders import make_user
from webapp.notices import delivery, messages, transport
from webapp.notices.delivery import PAUSES, deliver, deliver_one
from webapp.notices.gathering import gather
from webapp.notices.models import Mail, Notice
from webapp.notices.tasks import send

pytestmark = pytest.mark.django_db

VERA = "vera@example.org"


def only_mail():
    return Mail.objects.get()


def test_a_notice_arrives_as_plain_text_with_link_and_headers(mail_server, declined, sweep_mail, submission):
    declined()
    assert sweep_mail() == 1
    (message,) = mail_server.messages
    assert mail_server.recipients == [[VERA]]
    assert (message["To"], message["From"]) == (VERA, "register@drivecert.example")
    assert message["Subject"] == f"Submission {submission.public_id}, Exemplar EX4: declined"
    assert message.get_content_type() == "text/plain"
    text = message.get_content()
    assert f"https://drivecert.example/submissions/{submission.public_id}/" in text
    assert "A reviewer declined the submission:\n  > The drive is no drive.\n\nYou need to do nothing." in text
    assert "because you are a member of Exemplar." in text
    assert message["Auto-Submitted"] == "auto-generated"
    mail = only_mail()
    assert (mail.state, mail.attempts, mail.message_id) == ("sent", 1, message["Message-ID"])
    assert mail.message_id.endswith("@drivecert.example>")
    assert sweep_mail(days=30) == 0
    assert len(mail_server.messages) == 1


def test_a_refusal_for_now_is_retried_after_a_pause_with_the_same_id(mail_server, declined, sweep_mail):
    declined()
    mail_server.answers[VERA] = ["451 Greylisted"]
    sweep_mail(minutes=1)
    mail = only_mail()
    assert (mail.state, mail.code, mail.attempts) == ("pending", "451", 1)
    due = mail.next_attempt_at
    assert deliver(due - timedelta(seconds=1)) == 0
    assert deliver(due) == 1
    assert only_mail().state == "sent"
    assert [message["Message-ID"] for message in mail_server.messages] == [mail.message_id]


def test_pauses_become_longer_and_end_after_five_days(mail_server, declined, sweep_mail):
    declined()
    mail_server.answers[VERA] = ["451 Later"] * 100
    sweep_mail()
    pauses, now = [], timezone.now()
    while (mail := only_mail()).state == "pending":
        pauses.append(mail.next_attempt_at - mail.claimed_at)
        now = mail.next_attempt_at
        deliver(now)
    assert pauses[:5] == list(PAUSES)
    assert set(pauses[5:]) == {PAUSES[-1]}
    assert (mail.state, mail.code) == ("failed", "451")
    assert timedelta(days=5) <= now - mail.created_at < timedelta(days=5, hours=5)


@pytest.mark.parametrize("step", ["recipient", "content"])
def test_a_refusal_with_5xx_is_final(mail_server, declined, sweep_mail, step):
    declined()
    if step == "recipient":
        mail_server.answers[VERA] = ["550 No such user"]
    else:
        mail_server.content_answers = ["554 Refused"]
    sweep_mail()
    mail = only_mail()
    assert (mail.state, mail.code, mail.attempts) == ("failed", {"recipient": "550", "content": "554"}[step], 1)
    assert sweep_mail(days=1) == 0


def test_a_server_that_refuses_connections_delays_all_mails_and_loses_none(mail_server, declined, sweep_mail, exemplar):
    walter = make_user("walter", exemplar)
    declined()
    declined(walter)
    mail_server.stop()
    assert sweep_mail() == 1, "each of the mails waited for the same server"
    assert set(Mail.objects.values_list("state", flat=True)) == {"pending"}
    assert sorted(Mail.objects.values_list("code", flat=True)) == ["", "connection"]
    assert sweep_mail(minutes=1) == 0
    mail_server.start()
    assert sweep_mail(minutes=3) == 2
    assert sorted(message["To"] for message in mail_server.messages) == [VERA, "walter@example.org"]


@pytest.mark.parametrize("answer", ["530 Authentication required", "553 Sender not allowed"])
def test_a_refused_sender_is_an_error_of_the_register_and_fails_no_mail(mail_server, declined, sweep_mail, answer):
    declined()
    mail_server.sender_answers = [answer]
    sweep_mail()
    assert (only_mail().state, only_mail().code) == ("pending", answer[:3])
    sweep_mail(minutes=3)
    assert only_mail().state == "sent"


def test_a_server_without_the_configured_sign_in_fails_no_mail(mail_server, declined, sweep_mail, settings):
    settings.EMAIL_HOST_USER = settings.EMAIL_HOST_PASSWORD = "register"
    declined()
    sweep_mail()
    assert (only_mail().state, only_mail().code) == ("pending", "not-supported")
    settings.EMAIL_HOST_USER = settings.EMAIL_HOST_PASSWORD = ""
    sweep_mail(minutes=3)
    assert only_mail().state == "sent"


def test_several_mails_use_one_connection(mail_server, declined, sweep_mail, exemplar):
    for name in ("walter", "wanda", "wilma"):
        declined(make_user(name, exemplar))
    sweep_mail()
    assert (len(mail_server.messages), mail_server.connections) == (3, 1)


def test_one_mail_that_cannot_be_composed_delays_no_other(mail_server, declined, sweep_mail, exemplar, monkeypatch):
    walter = make_user("walter", exemplar)
    declined()
    declined(walter)
    compose = delivery.compose

    def fail_for_vera(mail, backend):
        if mail.recipient.username == "vera":
            raise ZeroDivisionError
        return compose(mail, backend)

    monkeypatch.setattr(delivery, "compose", fail_for_vera)
    sweep_mail()
    assert {mail.recipient.username: (mail.state, mail.code) for mail in Mail.objects.all()} == {
        "vera": ("pending", "internal-error"),
        "walter": ("sent", ""),
    }
    monkeypatch.undo()


@pytest.mark.django_db(transaction=True)
def test_two_workers_send_each_mail_once(mail_server, declined, exemplar):
    for number in range(8):
        declined(make_user(f"member-{number}", exemplar))
    later = timezone.now() + timedelta(minutes=1)
    together = threading.Barrier(2)

    def work():
        together.wait()
        gather(later)
        together.wait()
        for mail_id in Mail.objects.order_by("pk").values_list("pk", flat=True):
            together.wait()
            with get_connection() as backend:
                deliver_one(mail_id, later, backend)
        connections["default"].close()

    workers = [threading.Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert Mail.objects.filter(state="sent").count() == 8
    addresses = [message["To"] for message in mail_server.messages]
    assert sorted(addresses) == sorted({f"member-{number}@example.org" for number in range(8)})


def test_a_mail_of_a_worker_that_ended_waits_for_the_end_of_the_claim(mail_server, declined, sweep_mail, monkeypatch):
    declined()

    def end_of_the_worker(*_):
        raise SystemExit

    monkeypatch.setattr(transport, "send", end_of_the_worker)
    with pytest.raises(SystemExit):
        sweep_mail()
    monkeypatch.undo()
    mail = only_mail()
    assert (mail.state, mail.attempts) == ("sending", 1)
    expires = mail.claimed_at + timedelta(minutes=10)
    assert deliver(expires - timedelta(seconds=1)) == 0
    assert deliver(expires) == 1
    assert only_mail().state == "sent"
    assert [message["Message-ID"] for message in mail_server.messages] == [mail.message_id]


def test_an_attempt_that_outlived_its_claim_changes_nothing(mail_server, declined, sweep_mail, monkeypatch):
    declined()
    send_once = transport.send

    def outlive_the_claim(message, backend):
        Mail.objects.update(state="sent", attempts=2)
        return send_once(message, backend)

    monkeypatch.setattr(transport, "send", outlive_the_claim)
    mail_server.answers[VERA] = ["451 Later"]
    sweep_mail()
    assert (only_mail().state, only_mail().attempts) == ("sent", 2)


@pytest.mark.usefixtures("no_broker")
def test_a_change_is_recorded_and_mailed_without_redis(mail_server, submission, vera):

    decline(submission, make_user("rudi", is_reviewer=True), "No drive.")
    Notice.objects.update(created_at=timezone.now() - timedelta(minutes=1))
    send()
    assert ["declined" in message["Subject"] for message in mail_server.messages] == [True]


def test_names_and_texts_add_no_header_and_no_line(mail_server, declined, sweep_mail, submission, exemplar):
    evil = "EX4\r\nBcc: all@example.org\r\n\r\nForged text\u202e"
    type(submission).objects.update(model=evil, vendor="Länge Ωmega 株式会社")
    type(exemplar).objects.update(name="Exemplar\nYou must act.")
    declined(reason="one\r\n.\r\nYou must act.\n\u2028Deadline: now")
    sweep_mail()
    (message,) = mail_server.messages
    assert message["Bcc"] is None
    assert mail_server.recipients == [[VERA]]
    assert "Länge Ωmega 株式会社 EX4 Bcc: all@example.org Forged text" in message["Subject"]
    lines = message.get_content().splitlines()
    assert not [line for line in lines if line.startswith(("You must", "Deadline", "Forged", "Bcc"))]
    assert {"  > .", "  > You must act.", "  > Deadline: now"} <= set(lines)
    assert "\u202e" not in message.get_content()


def test_a_user_without_a_verified_address_gets_no_mail(mail_server, declined, sweep_mail, vera):
    vera.emailaddress_set.update(verified=False)
    declined()
    assert sweep_mail() == 0
    assert (only_mail().state, only_mail().code) == ("dropped", messages.NO_ADDRESS)


def test_on_a_single_machine_the_page_of_sent_mail_shows_the_mail(
    declined, sweep_mail, settings, tmp_path, staff_client
):
    settings.EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
    settings.EMAIL_FILE_PATH = tmp_path
    declined()
    sweep_mail()
    page = staff_client.get("/accounts/mail/").text
    assert "A reviewer declined the submission:\n  &gt; The drive is no drive." in page
    assert page.index("declined</h2>") < page.index(f"To {VERA}")
