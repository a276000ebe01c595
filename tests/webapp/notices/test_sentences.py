"""The texts of mails: what happened, who must act, and by when."""

from datetime import timedelta

import pytest
from django.utils import timezone

from results.ingest.queue import sweep
from results.lifecycle.embargo import change_embargo, lengthen_embargo
from results.lifecycle.questions import ask
from results.models import Submission
from tests.results.builders import log_bytes, make_user
from tests.results.builders import send as send_log
from tests.results.rows import from_a_log, judge, make_product, make_run
from webapp.accounts import organisations
from webapp.accounts.audit.trail import Actor
from webapp.notices.kinds import NEXT_ACTOR, Audience, Kind
from webapp.notices.models import Notice
from webapp.notices.outbox import notify
from webapp.notices.sentences import SENTENCES, STEPS
from webapp.templatetags.units import moment

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("evidence_dir", "stand_in")]


def test_each_kind_has_a_sentence_and_each_step_of_a_person_says_what_to_do():
    assert set(SENTENCES) == set(Kind)
    assert set(STEPS) == set(NEXT_ACTOR)


def test_one_mail_lists_what_happened_since_the_receipt(mail_server, exemplar, vera, sweep_mail):
    walter = make_user("walter", exemplar)
    submission = send_log(exemplar, log_bytes("four-us"), walter)
    sweep()
    run = submission.runs.get()
    sweep_mail()
    text = next(message for message in mail_server.messages if message["To"] == "vera@example.org").get_content()
    assert text.startswith(
        f"Submission {submission.public_id}, Exemplar EX4\n"
        "Organisation: Exemplar\n"
        "\n"
        "The register received the log load.log.\n"
        "The register read the log load.log:\n"
        f"  {run.public_id}: {run.verdicts.get().sentence}\n"
        "The submission has no product yet. A reviewer must name it.\n"
        "\n"
        "Next, a reviewer must act. You need to do nothing.\n"
        "\n"
        f"https://drivecert.example/submissions/{submission.public_id}/\n"
    )


def test_a_reviewer_reads_that_they_must_act(mail_server, exemplar, rita, sweep_mail):
    send_log(exemplar, log_bytes("four-us"))
    sweep()
    sweep_mail()
    (message,) = mail_server.messages
    assert message["Subject"].startswith("Action needed: Submission s-")
    assert "You must act. Name the product on the page of the submission.\n" in message.get_content()
    assert "because you are a reviewer of the register." in message.get_content()


def test_a_failed_reading_names_its_error(mail_server, exemplar, vera, sweep_mail):
    send_log(exemplar, b"no log at all")
    sweep()
    sweep_mail()
    (message,) = mail_server.messages
    assert message["Subject"].endswith("could not be read")
    assert "The register could not read the log load.log (error no-act-log).\n" in message.get_content()
    assert "You must act. Correct the log and submit it again." in message.get_content()


def test_public_runs_are_linked_and_reasons_quoted(mail_server, exemplar, vera, sweep_mail):
    runs = [make_run(make_product(), **from_a_log()) for _ in range(2)]
    submission = runs[0].submission
    Submission.objects.update(organisation=exemplar)
    for run in runs:
        details = {"run": run.public_id, "reason": "wrong firmware"}
        notify(Kind.WITHDRAWN, ("submission", submission.public_id), [vera], Audience.MEMBERS, details=details)
    sweep_mail()
    (message,) = mail_server.messages
    first, second = (run.public_id for run in runs)
    assert (
        f"Withdrawn: 2 runs: {first}, {second}.\n"
        f"  https://drivecert.example/runs/{first}/\n"
        f"  https://drivecert.example/runs/{second}/\n"
        "  > wrong firmware\n"
    ) in message.get_content()


def test_many_runs_are_shortened(mail_server, exemplar, vera, sweep_mail):
    run = make_run(make_product(), **from_a_log())
    judge(run, "pass")
    for number in range(11):
        make_run(run.product, submission=run.submission, reading=run.reading, ordinal=number + 2)
    Submission.objects.update(organisation=exemplar)
    notify(Kind.READ, ("submission", run.submission.public_id), [vera], Audience.MEMBERS)
    sweep_mail()
    text = mail_server.messages[0].get_content()
    assert f"  {run.public_id}: pass it is\n" in text
    assert text.count(": no verdict\n") == 9
    assert "  and more\n" in text


@pytest.mark.parametrize(
    ("acts", "expected"),
    [("members", "You must act. The page of the submission states what is missing.\nDeadline: 5 December 2026, 12:00"),
     ("reviewers", "Next, a reviewer must act. You need to do nothing.\nDeadline: 5 December 2026, 12:00 UTC"),
     ("register", "You need to do nothing.")],
)  # fmt: skip
def test_a_deadline_states_who_must_act(mail_server, submission, vera, sweep_mail, acts, expected):
    details = {"acts": acts, "deadline": "2026-12-05T13:00:00+01:00"}
    notify(Kind.DEADLINE_NEAR, ("submission", submission.public_id), [vera], Audience.MEMBERS, details=details)
    sweep_mail()
    assert expected in mail_server.messages[0].get_content()


def test_operators_and_members_read_about_an_organisation(mail_server, olga, sweep_mail):
    nora = make_user("nora")
    created = organisations.create(nora, Actor(nora), "Acme", "vendor", "https://acme.example")
    sweep_mail()
    organisations.confirm(created, Actor(olga), "Acme Storage")
    sweep_mail()
    for_operator, for_member = mail_server.messages
    assert for_operator["Subject"] == "Action needed: Organisation Acme: waits for confirmation"
    assert "https://drivecert.example/accounts/organisations/\n" in for_operator.get_content()
    assert "because you are an operator of the register." in for_operator.get_content()
    assert for_member["Subject"] == "Organisation Acme Storage: confirmed"
    assert "because you are a member of Acme Storage." in for_member.get_content()
    assert Notice.objects.filter(state="mailed").count() == 2


def test_members_read_the_question_in_the_mail(mail_server, exemplar, vera, rita, sweep_mail):
    submission = send_log(exemplar, log_bytes("four-us"), vera)
    sweep()
    Notice.objects.all().delete()
    ask(submission, rita, "Which slot?\nAnd which cable?")
    sweep_mail()
    (message,) = mail_server.messages
    assert message["To"] == "vera@example.org"
    assert "A reviewer has a question:\n  > Which slot?\n  > And which cable?\n" in message.get_content()


@pytest.mark.parametrize("is_ended", [False, True])
def test_members_read_the_new_end_of_an_embargo(mail_server, exemplar, vera, rita, sweep_mail, is_ended):
    submission = send_log(exemplar, log_bytes("four-us"), vera)
    Notice.objects.all().delete()
    until = (timezone.now() + timedelta(days=2)).replace(second=0, microsecond=0)
    lengthen_embargo(submission, until, rita, "the vendor asked")
    if is_ended:
        change_embargo(submission, None, rita)
    sweep_mail()
    (message,) = mail_server.messages
    state = "it has none now" if is_ended else f"no run is public before {moment(until)}"
    assert f"The embargo of the submission was changed: {state}.\n  > the vendor asked\n" in message.get_content()
