"""Descriptions of the staff pages for visitors who have not signed in."""

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("room", "said"), [("/submit/", "Requirements, and how to run a test"), ("/lab/", "order and watch runs")]
)
def test_the_page_before_sign_in_describes_the_room(client, room, said):
    assert said in client.get(room, follow=True).text
    assert said not in client.get("/accounts/login/").text


@pytest.mark.parametrize("page", ["/accounts/login/", "/explain/submit/"])
@pytest.mark.parametrize(
    ("contact", "said"),
    [
        ("desk@example.org", '<a href="mailto:desk@example.org"><bdi>desk@example.org</bdi></a>.'),
        ("the front desk", "Questions: <bdi>the front desk</bdi>."),
        ("", '<a href="/about/#operator">Who runs the register</a>'),
    ],
)
def test_a_visitor_without_an_account_reads_how_to_create_one_and_whom_to_ask(client, settings, page, contact, said):
    settings.OPERATOR_CONTACT = contact
    shown = client.get(page).text
    assert 'href="/accounts/signup/">Create an account</a>' in shown
    assert said in shown


@pytest.mark.parametrize("page", ["/explain/rules/", "/explain/submit/"])
def test_the_rules_say_that_a_submitted_log_certifies_nothing(client, page):
    assert "submits gets a verdict, but cannot lead to a certificate." in client.get(page).text


@pytest.mark.parametrize("page", ["/", "/drives/nvme-flash/", "/explain/", "/nowhere/"])
def test_public_pages_link_to_the_sign_in_for_every_visitor(member_client, page):
    shown = member_client.get(page).text
    assert '<a class="sign-in" href="/accounts/login/">Sign in</a>' in shown
    assert shown == Client().get(page).text


def test_that_link_leads_a_stranger_to_the_sign_in_and_a_user_to_their_own_page(member_client):
    assert Client().get("/submissions/").headers["Location"] == "/accounts/login/?next=/submissions/"
    assert member_client.get("/submissions/").status_code == 200


def test_the_sign_in_page_does_not_link_to_itself(client):
    assert 'class="sign-in"' not in client.get("/accounts/login/").text
