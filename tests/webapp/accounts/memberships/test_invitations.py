"""Invitations: the mail with its link, its acceptance by the invited address only, renewal, end and limits."""

import re
from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.db import connection
from django.test import Client
from django.utils import timezone

from tests.results.builders import make_user
from webapp.accounts.audit.trail import Actor
from webapp.accounts.memberships import invitations, members
from webapp.accounts.models import AccountEvent, Invitation, Role, User, hash_token
from webapp.accounts.organisations import OrganisationError

pytestmark = pytest.mark.django_db

MEMBERS = "/accounts/organisations/exemplar/members/"
INVITATIONS = "/accounts/organisations/exemplar/invitations/"
PASSWORD = "correct horse battery"


def link_of(message):
    (link,) = re.findall(r"http://testserver(/accounts/\S+)", message.body)
    return link


@pytest.fixture
def nora(db):
    return make_user("nora", password=PASSWORD)


@pytest.fixture
def invite(as_user, vera):
    """Return a function by which vera invites an address; it returns the link of the mail."""

    def send(email="nora@example.org", role="submitter"):
        answer = as_user(vera).post(MEMBERS, {"email": email, "role": role}, follow=True)
        assert f"{email.lower()} is invited as {role}." in answer.text
        return link_of(mail.outbox[-1])

    return send


def roles_of(user):
    return {each.organisation.slug: each.role for each in user.memberships.select_related("organisation")}


def test_a_user_accepts_an_invitation_by_its_link(as_user, invite, nora):
    link = invite("Nora@Example.org")
    assert mail.outbox[0].to == ["nora@example.org"]
    assert "Exemplar, in the role submitter" in mail.outbox[0].body
    client = as_user(nora)
    answer = client.get(link, follow=True)
    assert answer.redirect_chain == [("/accounts/invitation/", 302)], "the address bar shows the secret"
    assert roles_of(nora) == {}, "a program that follows links has accepted the invitation"
    accept = re.search(r'action="(/accounts/invitation/\d+/accept/)"', answer.text)[1]
    assert "You are now submitter of Exemplar." in client.post(accept, follow=True).text
    assert roles_of(nora) == {"exemplar": "submitter"}
    assert client.get("/submit/").status_code == 200
    assert Client().get(link).status_code == 410
    assert client.post(accept).status_code == 404


def test_a_person_without_an_account_signs_up_and_is_led_back(invite):
    client = Client()
    page = client.get(invite(), follow=True).text
    assert "You need an account with the address <b>nora@example.org</b>." in page
    assert 'value="nora@example.org"' in client.get("/accounts/signup/").text
    form = {"email": "Nora@example.org", "username": "nora", "password1": PASSWORD}
    answer = client.post("/accounts/signup/", form, follow=True)
    assert answer.redirect_chain[-1][0] == "/accounts/invitation/"
    assert len(mail.outbox) == 1, "the link of the invitation has verified the address"
    assert EmailAddress.objects.get(email="nora@example.org").verified
    client.post(re.search(r'action="(/accounts/invitation/\d+/accept/)"', answer.text)[1])
    assert roles_of(User.objects.get(username="nora")) == {"exemplar": "submitter"}


def test_a_sign_up_with_another_address_than_the_invited_one_verifies_it(invite):
    client = Client()
    client.get(invite(), follow=True)
    form = {"email": "nina@example.org", "username": "nina", "password1": PASSWORD}
    client.post("/accounts/signup/", form, follow=True)
    assert mail.outbox[-1].to == ["nina@example.org"]
    assert not EmailAddress.objects.get(email="nina@example.org").verified


def test_a_user_signs_in_and_is_led_back(invite, nora):
    client = Client()
    client.get(invite())
    answer = client.post("/accounts/login/", {"login": "nora", "password": PASSWORD})
    assert answer.headers["Location"] == "/accounts/invitation/"


def test_the_list_of_organisations_offers_what_the_verified_address_was_invited_to(as_user, invite, nora, otto):
    invite()
    assert "vera invites you to Exemplar" in as_user(nora).get("/accounts/organisation/").text
    assert "invites you" not in as_user(otto).get("/accounts/organisation/").text
    EmailAddress.objects.filter(user=nora).update(verified=False)
    assert not invitations.invitations_for(nora).exists()


def test_another_user_does_not_accept_an_invitation_with_its_link(as_user, invite, otto):
    link = invite()
    client = as_user(otto)
    page = client.get(link, follow=True).text
    assert "The invitation is for nora@example.org." in page
    assert "Accept invitation" not in page
    assert client.post(f"/accounts/invitation/{Invitation.objects.get().pk}/accept/").status_code == 404
    with pytest.raises(OrganisationError, match="Sign in with the account of that address"):
        invitations.accept(Actor(otto), Invitation.objects.get())
    assert roles_of(otto) == {"other": "owner"}


def test_the_database_has_only_the_hash_of_the_secret(invite):
    secret = invite().rstrip("/").rpartition("/")[2]
    assert Invitation.objects.get().digest == hash_token(secret)
    with connection.cursor() as cursor:
        cursor.execute("SELECT invitation::text FROM accounts_invitation AS invitation")
        assert secret not in cursor.fetchone()[0]


@pytest.mark.parametrize(("age", "is_valid"), [(timedelta(days=14, seconds=-10), True), (timedelta(days=14), False)])
def test_an_invitation_expires_after_14_days(invite, nora, age, is_valid):
    link = invite()
    created = Invitation.objects.get()
    assert created.expires_at - created.created_at == pytest.approx(timedelta(days=14), abs=timedelta(seconds=5))
    Invitation.objects.update(expires_at=created.expires_at - age)
    assert (Client().get(link).status_code == 302) == is_valid
    if is_valid:
        invitations.accept(Actor(nora), created)
    else:
        with pytest.raises(OrganisationError, match="has expired"):
            invitations.accept(Actor(nora), created)
    assert bool(roles_of(nora)) == is_valid


def test_an_expired_invitation_is_renewed_with_another_link(as_user, vera, invite):
    first = invite()
    Invitation.objects.update(expires_at=timezone.now() - timedelta(days=30))
    owner = as_user(vera)
    assert "expired" in owner.get(MEMBERS).text
    page = owner.post(f"{INVITATIONS}{Invitation.objects.get().pk}/renew/", follow=True).text
    assert "The earlier link no longer works." in page
    second = link_of(mail.outbox[-1])
    assert second != first
    assert [Client().get(link).status_code for link in (first, second)] == [410, 302]


def test_a_revoked_invitation_cannot_be_accepted_or_renewed(as_user, vera, invite, nora):
    link = invite()
    invitation = Invitation.objects.get()
    opened = as_user(nora)
    opened.get(link)
    owner = as_user(vera)
    owner.post(f"{INVITATIONS}{invitation.pk}/revoke/")
    assert Client().get(link).status_code == 410
    assert opened.get("/accounts/invitation/").status_code == 410
    with pytest.raises(OrganisationError, match="Ask an owner for a new one"):
        invitations.accept(Actor(nora), invitation)
    assert "was accepted, declined or revoked" in owner.post(f"{INVITATIONS}{invitation.pk}/renew/", follow=True).text
    assert len(mail.outbox) == 1
    invite()


def test_an_owner_invites_an_open_address_or_a_member_only_once(as_user, vera, invite):
    invite()
    client = as_user(vera)
    again = client.post(MEMBERS, {"email": "NORA@example.org", "role": "viewer"}).text
    assert "nora@example.org has an invitation already. Renew it to send another mail." in again
    own = client.post(MEMBERS, {"email": "vera@example.org", "role": "viewer"}).text
    assert "vera@example.org is the address of a member of Exemplar already." in own
    assert len(mail.outbox) == 1


def test_the_answer_does_not_reveal_whether_an_address_has_an_account(as_user, vera, nora):
    texts = []
    for email in ("nora@example.org", "anon@example.org"):
        page = as_user(vera).post(MEMBERS, {"email": email, "role": "viewer"}, follow=True).text
        texts.append(re.search(r"[\w@.]+ is invited as viewer\.", page)[0].replace(email, ""))
    assert texts[0] == texts[1]


def test_a_member_who_accepts_another_invitation_keeps_the_role(invite, nora, exemplar):
    invite()
    nora.memberships.create(organisation=exemplar, role=Role.OWNER)
    invitations.accept(Actor(nora), Invitation.objects.get())
    assert roles_of(nora) == {"exemplar": "owner"}


def test_who_is_no_owner_any_more_does_not_invite(vera, exemplar):
    sue = make_user("sue", exemplar)
    members.change_role(Actor(vera), sue.pk, exemplar, Role.SUBMITTER)
    with pytest.raises(OrganisationError, match="Only owners of Exemplar invite"):
        invitations.invite(Actor(sue), exemplar, "nora@example.org", Role.OWNER)


def test_an_organisation_has_at_most_50_open_invitations(vera, exemplar):
    for number in range(50):
        invitations.invite(Actor(vera), exemplar, f"n{number}@example.org", Role.VIEWER)
    with pytest.raises(OrganisationError, match="50 invitations are open"):
        invitations.invite(Actor(vera), exemplar, "n50@example.org", Role.VIEWER)


def test_invitations_are_limited_by_account(as_user, vera):
    client = as_user(vera)
    answers = [client.post(MEMBERS, {"email": f"n{n}@example.org", "role": "viewer"}) for n in range(21)]
    assert [answer.status_code for answer in answers] == [302] * 20 + [429]
    assert answers[-1].headers["Retry-After"]
    assert len(mail.outbox) == 20


def test_mails_to_one_address_are_limited(as_user, vera, invite):
    invite()
    path = f"{INVITATIONS}{Invitation.objects.get().pk}/renew/"
    answers = [as_user(vera).post(path).status_code for _ in range(5)]
    assert answers == [302] * 4 + [429]
    assert len(mail.outbox) == 5


def test_tries_of_unknown_links_are_limited():
    answers = [Client().get(f"/accounts/invitation/guess-{n}/").status_code for n in range(21)]
    assert answers == [410] * 20 + [429]


def decline_address(page):
    return re.search(r'action="(/accounts/invitation/\d+/decline/)"', page)[1]


@pytest.mark.parametrize("has_account", [True, False])
def test_an_invited_person_declines_with_one_click_and_the_owner_sees_it(as_user, vera, invite, nora, has_account):
    link = invite()
    client = as_user(nora) if has_account else Client()
    page = client.get(link, follow=True).text
    assert Invitation.objects.get().declined_at is None, "a program that follows links has declined the invitation"
    answer = client.post(decline_address(page))
    assert "Invitation declined" in answer.text
    assert Invitation.objects.get().declined_at
    assert roles_of(nora) == {}
    assert "<b>nora@example.org</b> declined the invitation in the role submitter" in as_user(vera).get(MEMBERS).text
    notice = vera.notices.get(kind="invitation-declined")
    assert notice.details == {"role": "submitter"}
    event = AccountEvent.objects.get(kind="invitation-declined")
    assert (event.actor, event.details) == (nora if has_account else None, {"invitation": Invitation.objects.get().pk})
    events = as_user(vera).get("/accounts/organisations/exemplar/events/").text
    assert "Invitation declined: nora@example.org" in events


def test_a_declined_link_no_longer_works_and_the_address_is_invited_again(as_user, vera, invite, nora):
    link = invite()
    client = as_user(nora)
    page = client.get(link, follow=True).text
    client.post(decline_address(page))
    assert Client().get(link).status_code == 410
    assert client.post(decline_address(page)).status_code == 404
    assert client.post(decline_address(page).replace("decline", "accept")).status_code == 404
    renewed = as_user(vera).post(f"{INVITATIONS}{Invitation.objects.get().pk}/renew/", follow=True).text
    assert "accepted, declined or revoked" in renewed
    second = invite()
    assert "declined the invitation" not in as_user(vera).get(MEMBERS).text
    client.post(re.search(r'action="(/accounts/invitation/\d+/accept/)"', client.get(second, follow=True).text)[1])
    assert roles_of(nora) == {"exemplar": "submitter"}


def test_only_the_invited_person_declines(as_user, invite, otto, vera):
    link = invite()
    number = Invitation.objects.get().pk
    path = f"/accounts/invitation/{number}/decline/"
    assert Client().post(path).headers["Location"].startswith("/accounts/login/")
    for user in (otto, vera):
        client = as_user(user)
        assert path not in client.get(link, follow=True).text
        assert client.post(path).status_code == 404
    other = Client()
    other.get(link)
    assert other.post(f"/accounts/invitation/{number + 1}/decline/").status_code == 302
    assert Client().get(path).status_code == 405
    assert Invitation.objects.get().declined_at is None
    with pytest.raises(OrganisationError, match="Sign in with the account of that address"):
        invitations.decline(Actor(otto), Invitation.objects.get())


def test_the_list_of_organisations_declines_too(as_user, invite, nora):
    invite()
    client = as_user(nora)
    client.post(decline_address(client.get("/accounts/organisation/").text))
    assert "invites you" not in client.get("/accounts/organisation/").text


@pytest.mark.parametrize(("age", "is_shown"), [(timedelta(days=30, seconds=-10), True), (timedelta(days=30), False)])
def test_the_owner_reads_for_30_days_that_an_invitation_was_declined(as_user, vera, invite, nora, age, is_shown):
    invite()
    invitations.decline(Actor(nora), Invitation.objects.get())
    Invitation.objects.update(declined_at=timezone.now() - age)
    assert ("declined the invitation" in as_user(vera).get(MEMBERS).text) == is_shown


def test_an_invitation_that_ended_is_not_declined(invite, nora):
    invite()
    invitations.accept(Actor(nora), Invitation.objects.get())
    with pytest.raises(OrganisationError, match="was accepted, declined, renewed or revoked"):
        invitations.decline(Actor(nora), Invitation.objects.get())
