import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from results.models import Organisation
from webapp.accounts.models import User
from webapp.accounts.permissions import register_roles

pytestmark = pytest.mark.django_db


@pytest.fixture
def vera(vera):
    vera.set_password("correct horse battery")
    vera.save()
    return vera


def test_a_member_signs_in_and_out(client, vera):
    answer = client.post("/accounts/login/", {"login": "vera", "password": "correct horse battery"})
    assert answer.headers["Location"] == "/submissions/"
    assert client.get("/submissions/").status_code == 200
    assert client.post("/accounts/logout/").headers["Location"] == "/"
    assert client.get("/submissions/").status_code == 302


def test_a_reviewer_is_led_to_the_review_queue_and_a_member_to_the_submissions(client, vera, rita):
    for person, address in [(vera, "/submissions/"), (rita, "/submissions/review/")]:
        person.set_password("correct horse battery")
        person.save()
        form = {"login": person.username, "password": "correct horse battery"}
        assert client.post("/accounts/login/", form).headers["Location"] == address
        assert client.get("/accounts/login/").headers["Location"] == address
        client.logout()


def test_a_wrong_password_is_reported_and_not_accepted(client, vera):
    answer = client.post("/accounts/login/", {"login": "vera", "password": "wrong"})
    assert b"not signed in" in answer.content
    assert client.get("/submissions/").status_code == 302


def test_signing_in_redirects_only_to_our_own_pages(client, vera):
    sign_in = {"login": "vera", "password": "correct horse battery", "next": "https://elsewhere.example/"}
    assert client.post("/accounts/login/", sign_in).headers["Location"] == "/submissions/"
    assert client.post("/accounts/login/", sign_in | {"next": "/submit/"}).headers["Location"] == "/submit/"


def test_the_account_page_links_every_page_of_the_account(as_user, vera, exemplar):
    client = as_user(vera)
    text = client.get("/accounts/").text
    assert "vera@example.org" in text
    assert "Exemplar" in text
    for page in ("email/", "password/change/", "2fa/", "sessions/", "tokens/"):
        assert f'href="/accounts/{page}"' in text
        assert client.get(f"/accounts/{page}").status_code == 200
    assert 'href="/accounts/"' in client.get("/submissions/").text
    assert Client().get("/accounts/").headers["Location"] == "/accounts/login/?next=/accounts/"


def test_the_commands_add_an_organisation_and_a_person(capsys):
    call_command("add_organisation", "acme", "Acme Storage")
    call_command("add_organisation", "acme", "Acme again")
    call_command("add_user", "mia", "--organisation", "acme", "--email", "Mia@example.org")
    password = capsys.readouterr().out.split("password ")[1].split()[0]

    user = User.objects.get(username="mia")
    assert user.check_password(password)
    assert (user.memberships.get().organisation.name, user.memberships.get().role) == ("Acme Storage", "owner")
    assert register_roles(user) == frozenset()
    assert [(each.email, each.verified, each.primary) for each in user.emailaddress_set.all()] == [
        ("mia@example.org", True, True)
    ]
    assert Organisation.objects.count() == 1


@pytest.mark.parametrize(
    ("options", "roles"),
    [
        (["--reviewer"], {"reviewer"}),
        (["--operator"], {"operator"}),
        (["--staff"], {"reviewer", "operator"}),
    ],
)
def test_the_command_gives_and_takes_roles_of_the_register(options, roles):
    call_command("add_user", "mia", *options)
    assert register_roles(User.objects.get()) == roles
    call_command("add_user", "mia")
    assert register_roles(User.objects.get()) == roles
    call_command("add_user", "mia", "--no-reviewer", "--no-operator")
    assert register_roles(User.objects.get()) == set()


def test_a_person_needs_an_existing_organisation():
    with pytest.raises(CommandError, match="add_organisation makes it"):
        call_command("add_user", "mia", "--organisation", "acme")
    assert User.objects.count() == 0


@pytest.mark.parametrize("email", ["mia", "vera@example.org"])
def test_an_address_must_be_one_and_belong_to_no_other_account(email, vera, exemplar):
    with pytest.raises(CommandError, match="--email"):
        call_command("add_user", "mia", "--organisation", "exemplar", "--email", email)
    assert not User.objects.filter(username="mia").exists()


def test_a_new_address_replaces_the_old_one(vera, exemplar):
    call_command("add_user", "vera", "--organisation", "exemplar", "--email", "new@example.org")
    assert [(each.email, each.primary) for each in vera.emailaddress_set.all()] == [("new@example.org", True)]
    assert User.objects.get(pk=vera.pk).email == "new@example.org"
