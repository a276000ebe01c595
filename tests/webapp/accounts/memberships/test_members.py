"""Changes of memberships: roles, transfer, leaving, removal, and what ends with them."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from tests.results.builders import make_organisation, make_user, other_session, wait_for
from tests.webapp.people import enter_password
from webapp.accounts.audit.trail import Actor
from webapp.accounts.memberships import invitations, members
from webapp.accounts.models import Invitation, Membership, Role
from webapp.accounts.organisations import OrganisationError
from webapp.accounts.tokens.rules import find_token, issue_token
from webapp.notices.kinds import Audience, Kind
from webapp.notices.models import Notice
from webapp.notices.sentences import lines_of
from webapp.notices.subjects import load_subject

pytestmark = pytest.mark.django_db

MEMBERS = "/accounts/organisations/exemplar/members/"


@pytest.fixture
def sue(exemplar):
    """A submitter of Exemplar, of which vera is an owner."""
    user = make_user("sue")
    user.memberships.create(organisation=exemplar, role=Role.SUBMITTER)
    return user


def role_of(user):
    membership = user.memberships.filter(organisation__slug="exemplar").first()
    return membership and membership.role


def test_an_owner_changes_roles_and_removes_members(as_user, vera, sue):
    client = as_user(vera)
    page = client.get(MEMBERS).text
    assert "sue" in page
    assert "sue is now owner." in client.post(f"{MEMBERS}{sue.pk}/role/", {"role": "owner"}, follow=True).text
    assert role_of(sue) == "owner"
    assert client.post(f"{MEMBERS}{sue.pk}/role/", {"role": "king"}).status_code == 404
    assert "sue is no longer a member." in client.post(f"{MEMBERS}{sue.pk}/remove/", follow=True).text
    assert role_of(sue) is None
    assert client.post(f"{MEMBERS}{sue.pk}/remove/").status_code == 404


@pytest.mark.parametrize("role", [Role.SUBMITTER, Role.VIEWER])
def test_other_members_only_read_the_list_and_leave(as_user, vera, sue, role):
    sue.memberships.update(role=role)
    client = as_user(sue)
    page = client.get(MEMBERS).text
    assert "vera" in page
    assert "Invite member" not in page
    assert "@" not in page, "a member reads the address of another one"
    for path, form in [
        (MEMBERS, {"email": "new@example.org", "role": "owner"}),
        (f"{MEMBERS}{vera.pk}/role/", {"role": "viewer"}),
        (f"{MEMBERS}{sue.pk}/role/", {"role": "owner"}),
        (f"{MEMBERS}{vera.pk}/remove/", {}),
        ("/accounts/organisations/exemplar/transfer/", {"member": vera.pk}),
    ]:
        assert client.post(path, form).status_code == 404, path
    assert (role_of(vera), role_of(sue)) == (Role.OWNER, role)
    assert not Invitation.objects.exists()
    client.post("/accounts/organisations/exemplar/leave/")
    assert role_of(sue) is None


@pytest.mark.parametrize("outsider", ["otto", "rita"])
def test_the_list_of_another_organisation_does_not_exist(as_user, vera, outsider, request):
    client = as_user(request.getfixturevalue(outsider))
    for path in (MEMBERS, "/accounts/organisations/exemplar/events/", "/accounts/organisations/nowhere/members/"):
        assert client.get(path).status_code == 404
    for path in (f"{MEMBERS}{vera.pk}/remove/", "/accounts/organisations/exemplar/leave/"):
        assert client.post(path).status_code == 404
    assert role_of(vera) == Role.OWNER


def test_ownership_is_transferred_to_another_member(as_user, vera, sue):
    client = as_user(vera)
    enter_password(client)
    page = client.post("/accounts/organisations/exemplar/transfer/", {"member": sue.pk}, follow=True).text
    assert "sue is now an owner of Exemplar, and you are a submitter." in page
    assert (role_of(vera), role_of(sue)) == (Role.SUBMITTER, Role.OWNER)
    assert client.post("/accounts/organisations/exemplar/transfer/", {"member": sue.pk}).status_code == 404


def test_a_transfer_of_the_ownership_needs_the_password_and_both_get_a_mail(as_user, vera, sue, exemplar):
    vera.set_password("correct horse battery")
    vera.save()
    client = as_user(vera)
    asked = client.post("/accounts/organisations/exemplar/transfer/", {"member": sue.pk})
    assert asked.headers["Location"].startswith("/accounts/reauthenticate/?next=")
    assert role_of(vera) == Role.OWNER
    done = client.post(asked.headers["Location"], {"password": "correct horse battery"})
    assert done.headers["Location"] == MEMBERS
    assert (role_of(vera), role_of(sue)) == (Role.SUBMITTER, Role.OWNER)
    assert notices() == {("vera", "ownership-transferred"), ("sue", "ownership-transferred")}
    facts = load_subject("organisation", exemplar.slug, Audience.MEMBERS)
    lines = lines_of(Kind.OWNERSHIP_TRANSFERRED, list(Notice.objects.filter(recipient=sue)), facts)
    assert lines == ["vera transferred the ownership to sue."]


def test_owners_get_a_mail_when_a_member_joins_or_leaves(vera, sue, exemplar):
    ria = make_user("ria", email="ria@example.org")
    invitation, _ = invitations.invite(Actor(vera), exemplar, "ria@example.org", Role.VIEWER)
    invitations.accept(Actor(ria), invitation)
    assert notices() == {("vera", "member-joined")}, "submitters and the person get none"
    Notice.objects.all().delete()
    members.leave(Actor(ria), exemplar)
    assert notices() == {("vera", "member-left")}
    facts = load_subject("organisation", exemplar.slug, Audience.MEMBERS)
    assert lines_of(Kind.MEMBER_LEFT, list(Notice.objects.all()), facts) == ["ria left the organisation."]
    Notice.objects.all().delete()
    members.remove(Actor(vera), sue.pk, exemplar)
    assert notices() == set(), "the owner removed them"


def notices():
    return {(each.recipient.username, each.kind) for each in Notice.objects.all()}


def test_ownership_is_not_transferred_to_an_outsider(as_user, vera, otto):
    answer = as_user(vera).post("/accounts/organisations/exemplar/transfer/", {"member": otto.pk})
    assert answer.status_code == 404
    assert role_of(vera) == Role.OWNER


def test_the_last_owner_cannot_leave(as_user, vera, sue):
    page = as_user(vera).post("/accounts/organisations/exemplar/leave/", follow=True).text
    assert "Exemplar needs an owner. Make another member its owner first." in page
    assert role_of(vera) == Role.OWNER
    sue.memberships.update(role=Role.OWNER)
    page = as_user(vera).post("/accounts/organisations/exemplar/leave/", follow=True).text
    assert "You are no longer a member of Exemplar." in page
    assert role_of(vera) is None


def test_an_owner_with_a_closed_account_does_not_count(vera, sue, exemplar):
    sue.memberships.update(role=Role.OWNER)
    type(sue).objects.filter(pk=sue.pk).update(is_active=False)
    with pytest.raises(OrganisationError, match="needs an owner"):
        members.leave(Actor(vera), exemplar)


def test_the_last_owner_cannot_take_the_role_from_themselves(vera, sue, exemplar):
    with pytest.raises(OrganisationError, match="needs an owner"):
        members.change_role(Actor(vera), vera.pk, exemplar, Role.SUBMITTER)
    with pytest.raises(OrganisationError, match="leave the organisation"):
        members.remove(Actor(vera), vera.pk, exemplar)
    with pytest.raises(OrganisationError, match="you are an owner already"):
        members.transfer_ownership(Actor(vera), vera.pk, exemplar)


def test_who_stopped_being_an_owner_since_the_page_was_loaded_changes_nothing(vera, sue, otto, exemplar):
    for actor in (Actor(sue), Actor(otto)):
        with pytest.raises(OrganisationError, match="Only owners of Exemplar change its members"):
            members.change_role(actor, sue.pk, exemplar, Role.OWNER)
        with pytest.raises(OrganisationError, match="Only owners"):
            members.transfer_ownership(actor, sue.pk, exemplar)
        with pytest.raises(OrganisationError, match="Only owners"):
            members.remove(actor, vera.pk, exemplar)
    assert (role_of(vera), role_of(sue)) == (Role.OWNER, Role.SUBMITTER)


@pytest.mark.parametrize("end", ["leave", "remove", "viewer"])
def test_tokens_end_with_the_right_to_submit(vera, sue, exemplar, end):
    other = make_organisation("second")
    sue.memberships.create(organisation=other, role=Role.SUBMITTER)
    token, secret = issue_token(sue, exemplar, "script")
    _, secret_of_other = issue_token(sue, other, "other script")
    assert find_token(secret) == token
    if end == "leave":
        members.leave(Actor(sue), exemplar)
    elif end == "remove":
        members.remove(Actor(vera), sue.pk, exemplar)
    else:
        members.change_role(Actor(vera), sue.pk, exemplar, Role.VIEWER)
    assert find_token(secret) is None
    token.refresh_from_db()
    assert token.revoked_at is not None
    assert find_token(secret_of_other) is not None

    Membership.objects.update_or_create(user=sue, organisation=exemplar, defaults={"role": Role.OWNER})
    assert find_token(secret) is None, "the token works again after the person returned"


def test_the_invitations_of_a_removed_owner_end(vera, sue, exemplar):
    sue.memberships.update(role=Role.OWNER)
    for inviter in (vera, sue):
        exemplar.invitations.create(
            email=f"friend-of-{inviter}@example.org", role=Role.OWNER, digest=inviter.username, invited_by=inviter,
            expires_at="2999-01-01T00:00Z",
        )  # fmt: skip
    members.remove(Actor(vera), sue.pk, exemplar)
    assert [each.invited_by for each in Invitation.objects.open()] == [vera]


def waiting_count():
    """Return the number of sessions of this database that wait for a lock."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        )
        return cursor.fetchone()[0]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("change", ["leave", "remove each other", "demote themselves"])
def test_of_two_owners_who_end_their_role_at_once_one_stays(vera, sue, exemplar, change):
    sue.memberships.update(role=Role.OWNER)

    def end_role(owner, other):
        try:
            if change == "leave":
                members.leave(Actor(owner), exemplar)
            elif change == "demote themselves":
                members.change_role(Actor(owner), owner.pk, exemplar, Role.VIEWER)
            else:
                members.remove(Actor(owner), other.pk, exemplar)
        except OrganisationError as error:
            return str(error)
        finally:
            connection.close()
        return ""

    with other_session() as session, ThreadPoolExecutor() as pool:
        with session.transaction():
            session.execute("SELECT 1 FROM results_organisation WHERE id = %s FOR UPDATE", [exemplar.pk])
            ends = [pool.submit(end_role, vera, sue), pool.submit(end_role, sue, vera)]
            wait_for(lambda: all(end.done() for end in ends) or waiting_count() == 2)
        outcomes = [end.result() for end in ends]
    assert outcomes.count("") == 1
    assert Membership.objects.filter(organisation=exemplar, role=Role.OWNER).count() == 1
