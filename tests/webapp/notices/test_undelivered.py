"""The page of mails that could not be delivered."""

import pytest

from webapp.notices.models import Mail

pytestmark = pytest.mark.django_db

PAGE = "/accounts/mail/undelivered/"


@pytest.fixture
def failed(mail_server, declined, sweep_mail):
    declined()
    mail_server.answers["vera@example.org"] = ["550 No such user"]
    sweep_mail()
    return Mail.objects.get()


def test_operators_see_the_code_and_nothing_of_the_submission(failed, submission, as_user, olga):
    page = as_user(olga).get(PAGE).text
    assert "<td>550</td>" in page
    assert "vera" in page
    assert "declined" in page
    assert submission.public_id not in page, "operators may not read submissions"
    assert "no drive" not in page
    assert "1 failed" in as_user(olga).get("/accounts/").text


def test_operators_see_what_is_tried_again(mail_server, declined, sweep_mail, as_user, olga):
    declined()
    mail_server.answers["vera@example.org"] = ["451 Later"]
    sweep_mail()
    page = as_user(olga).get(PAGE).text
    assert "<td>451</td>" in page
    assert "No mail failed." in page


def test_others_do_not_reach_the_page(failed, as_user, vera, rita, client):
    again = f"{PAGE}{failed.pk}/retry/"
    for user in (vera, rita):
        assert as_user(user).get(PAGE).status_code == 403
        assert as_user(user).post(again).status_code == 403
        assert "Undelivered" not in as_user(user).get("/accounts/").text
    assert client.get(PAGE).status_code == 302
    assert Mail.objects.get().state == "failed"


def test_an_operator_sends_a_failed_mail_again_once(failed, mail_server, sweep_mail, as_user, olga):
    again = f"{PAGE}{failed.pk}/retry/"
    assert "is queued again" in as_user(olga).post(again, follow=True).text
    assert "is queued again" not in as_user(olga).post(again, follow=True).text
    sweep_mail()
    assert Mail.objects.get().state == "sent"
    as_user(olga).post(again)
    sweep_mail(days=1)
    assert len(mail_server.messages) == 1
