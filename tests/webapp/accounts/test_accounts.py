import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from results.models import Organisation
from webapp.accounts.models import APIToken, User, hash_token, issue_token
from webapp.accounts.permissions import register_roles
from webapp.accounts.requests import find_token

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


def test_the_secret_of_a_token_is_shown_once_and_only_its_hash_is_stored(as_user, vera, exemplar):
    client = as_user(vera)
    answer = client.post("/accounts/tokens/", {"name": "script", "organisation": exemplar.pk})
    token, secret = APIToken.objects.get(), answer.context["secret"]
    assert secret in answer.content.decode()
    assert token.digest == hash_token(secret)
    assert "no-store" in answer.headers["Cache-Control"]
    assert secret not in client.get("/accounts/tokens/").content.decode()


def test_reloading_the_page_after_creating_a_token_creates_no_other(as_user, vera, exemplar):
    client, form = as_user(vera), {"name": "script", "organisation": exemplar.pk}
    client.post("/accounts/tokens/", form)
    assert "You have a token script already" in client.post("/accounts/tokens/", form).content.decode()
    assert APIToken.objects.count() == 1
    APIToken.objects.update(revoked_at=timezone.now())
    client.post("/accounts/tokens/", form)
    assert APIToken.objects.valid().count() == 1


def test_a_token_is_created_only_for_the_users_own_organisation(as_user, vera, otto):
    foreign = otto.memberships.get().organisation
    as_user(vera).post("/accounts/tokens/", {"name": "script", "organisation": foreign.pk})
    assert APIToken.objects.count() == 0


def test_a_token_is_revoked_only_by_its_owner(as_user, vera, otto, exemplar):
    token, _ = issue_token(vera, exemplar, "script")
    assert as_user(otto).post(f"/accounts/tokens/{token.pk}/revoke/").status_code == 404
    assert APIToken.objects.valid().count() == 1
    as_user(vera).post(f"/accounts/tokens/{token.pk}/revoke/")
    assert APIToken.objects.valid().count() == 0


def test_a_token_ends_with_the_membership_of_its_owner(vera, exemplar):
    token, secret = issue_token(vera, exemplar, "script")
    assert find_token(secret) == token
    vera.memberships.all().delete()
    assert find_token(secret) is None


def test_the_token_page_needs_as_many_queries_for_50_tokens_as_for_one(as_user, vera, exemplar, connection_queries):
    client = as_user(vera)
    issue_token(vera, exemplar, "one")
    with connection_queries() as one:
        client.get("/accounts/tokens/")
    for number in range(49):
        issue_token(vera, exemplar, f"script {number}")
    with connection_queries() as fifty:
        client.get("/accounts/tokens/")
    assert len(one) == len(fifty)


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


def test_strangers_see_no_tokens(client):
    assert client.get("/accounts/tokens/").headers["Location"].startswith("/accounts/login/")


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
