"""The pages of tokens: those of a user, and those of an organisation's machines."""

import pytest
from django.utils import timezone

from tests.results.builders import make_user
from webapp.accounts.models import AccountEvent, APIToken, Role, hash_token
from webapp.accounts.tokens.rules import issue_token

pytestmark = pytest.mark.django_db
FORM = {"name": "script", "scopes": ["submit", "read-own"], "days": "90"}
MACHINE = FORM | {"machine": "bench-3"}
MACHINES = "/accounts/organisations/exemplar/tokens/"


def test_the_secret_of_a_token_is_shown_once_and_only_its_hash_is_stored(as_user, vera, exemplar):
    client = as_user(vera)
    answer = client.post("/accounts/tokens/", FORM | {"organisation": exemplar.pk})
    token, secret = APIToken.objects.get(), answer.context["secret"]
    assert secret in answer.content.decode()
    assert token.digest == hash_token(secret)
    assert "no-store" in answer.headers["Cache-Control"]
    assert secret not in client.get("/accounts/tokens/").content.decode()


def test_reloading_the_page_after_creating_a_token_creates_no_other(as_user, vera, exemplar):
    client, form = as_user(vera), FORM | {"organisation": exemplar.pk}
    client.post("/accounts/tokens/", form)
    assert "There is a token script already" in client.post("/accounts/tokens/", form).content.decode()
    assert APIToken.objects.count() == 1
    APIToken.objects.update(revoked_at=timezone.now())
    client.post("/accounts/tokens/", form)
    assert APIToken.objects.valid().count() == 1


def test_a_token_is_created_only_for_the_users_own_organisation(as_user, vera, otto):
    foreign = otto.memberships.get().organisation
    as_user(vera).post("/accounts/tokens/", FORM | {"organisation": foreign.pk})
    assert APIToken.objects.count() == 0


def test_a_token_is_revoked_only_by_its_owner(as_user, vera, otto, exemplar):
    token, _ = issue_token(vera, exemplar, "script")
    assert as_user(otto).post(f"/accounts/tokens/{token.pk}/revoke/").status_code == 404
    assert APIToken.objects.valid().count() == 1
    as_user(vera).post(f"/accounts/tokens/{token.pk}/revoke/")
    assert APIToken.objects.valid().count() == 0


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


def test_strangers_see_no_tokens(client):
    assert client.get("/accounts/tokens/").headers["Location"].startswith("/accounts/login/")


def test_without_a_choice_a_token_submits_and_reads_for_90_days(as_user, vera, exemplar):
    as_user(vera).post("/accounts/tokens/", {"name": "a", "organisation": exemplar.pk})
    token = APIToken.objects.get()
    assert token.scopes == ["submit", "read-own"]
    assert (token.expires_at - token.created_at).days in {89, 90}


def test_a_token_has_the_chosen_scopes_and_ends_after_the_chosen_time(as_user, vera, exemplar):
    form = {"name": "a", "organisation": exemplar.pk, "scopes": ["read-own"], "days": "30", "machine": "bench-3"}
    as_user(vera).post("/accounts/tokens/", form)
    token = APIToken.objects.get()
    assert (token.kind, token.scopes, token.machine) == ("personal", ["read-own"], "bench-3")
    assert (token.expires_at - token.created_at).days in {29, 30}


@pytest.mark.parametrize("changed", [{"scopes": ["review"]}, {"scopes": ["order"]}, {"days": "9999"}])
def test_a_token_beyond_the_rights_of_its_owner_or_without_end_is_refused(as_user, vera, exemplar, changed):
    page = as_user(vera).post("/accounts/tokens/", FORM | {"organisation": exemplar.pk} | changed)
    assert "error" in page.text
    assert not APIToken.objects.exists()


@pytest.mark.parametrize(("roles", "scopes"), [
    ({}, ["submit", "read-own"]),
    ({"is_reviewer": True}, ["submit", "read-own", "review"]),
    ({"is_operator": True}, ["submit", "read-own", "order", "host"]),
])  # fmt: skip
def test_the_form_offers_the_scopes_that_the_roles_of_the_user_allow(as_user, exemplar, roles, scopes):
    form = as_user(make_user("ann", exemplar, **roles)).get("/accounts/tokens/").context["form"]
    assert [value for value, _ in form.fields["scopes"].choices] == scopes


def test_an_owner_creates_and_revokes_the_token_of_a_machine(as_user, vera, exemplar):
    client = as_user(vera)
    secret = client.post(MACHINES, MACHINE).context["secret"]
    token = APIToken.objects.get()
    assert (token.kind, token.organisation, token.user, token.machine) == ("machine", exemplar, vera, "bench-3")
    assert token.digest == hash_token(secret)
    page = client.get(MACHINES).text
    assert "bench-3" in page
    assert secret not in page
    client.post(f"{MACHINES}{token.pk}/revoke/")
    assert not APIToken.objects.valid().exists()
    kinds = AccountEvent.objects.order_by("at").values_list("kind", flat=True)
    assert list(kinds) == ["token-created", "token-revoked"]


def test_a_machine_token_names_its_machine_and_reviews_nothing(as_user, exemplar):
    client = as_user(make_user("ann", exemplar, is_reviewer=True))
    for form in (FORM, MACHINE | {"scopes": ["submit", "review"]}):
        assert "error" in client.post(MACHINES, form).text
    assert not APIToken.objects.exists()


@pytest.mark.parametrize("role", [Role.SUBMITTER, Role.VIEWER])
def test_only_owners_see_create_and_revoke_machine_tokens(as_user, vera, exemplar, role):
    token, _ = issue_token(vera, exemplar, "script", kind="machine")
    member = make_user("tom")
    member.memberships.create(organisation=exemplar, role=role)
    for client in (as_user(make_user("sue")), as_user(member)):
        assert client.get(MACHINES).status_code == 404
        assert client.post(MACHINES, MACHINE).status_code == 404
        assert client.post(f"{MACHINES}{token.pk}/revoke/").status_code == 404
    assert APIToken.objects.valid().get() == token


def test_the_page_names_the_machine_tokens_whose_creator_has_left(as_user, vera, exemplar):
    owner = make_user("ann", exemplar)
    issue_token(vera, exemplar, "night job", kind="machine", machine="bench-3")
    assert "Replace" not in as_user(owner).get(MACHINES).text
    as_user(vera).post("/accounts/organisations/exemplar/leave/")
    page = as_user(owner).get(MACHINES).text
    assert "Replace 1 token." in page
    assert owner.notices.get(kind="tokens-to-replace").details["tokens"] == ["night job"]


def test_the_owners_are_notified_of_the_machine_tokens_of_a_removed_member(as_user, vera, exemplar):
    owner = make_user("ann", exemplar)
    issue_token(vera, exemplar, "night job", kind="machine", machine="bench-3")
    as_user(owner).post(f"/accounts/organisations/exemplar/members/{vera.pk}/remove/")
    assert [notice.details["tokens"] for notice in owner.notices.filter(kind="tokens-to-replace")] == [["night job"]]


def test_no_owner_is_notified_of_tokens_when_a_member_without_machine_tokens_leaves(as_user, vera, exemplar):
    owner = make_user("ann", exemplar)
    issue_token(vera, exemplar, "mine")
    as_user(vera).post("/accounts/organisations/exemplar/leave/")
    assert [notice.kind for notice in owner.notices.all()] == ["member-left"]


@pytest.mark.parametrize("page", ["/accounts/tokens/", MACHINES])
def test_each_scope_has_its_tick_box_in_its_label(as_user, vera, page):
    text = as_user(vera).get(page).text
    for number in (0, 1):
        label = text.index(f'<label class="tick" for="id_scopes_{number}">')
        assert label < text.index(f'id="id_scopes_{number}"') < text.index("</label>", label)
