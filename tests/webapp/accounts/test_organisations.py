"""Organisations that people create, and their confirmation before anything of them is published."""

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from results.errors import ReviewRefusedError
from results.lifecycle import visibility
from results.models import Organisation, Run
from tests.results.builders import make_organisation, make_user
from tests.results.rows import from_a_log, make_product, make_run

NEW = {"name": "Acme Storage", "kind": "vendor", "website": "acme.example"}
PASSWORD = "correct horse battery"


@pytest.fixture
def nora(db):
    return make_user("nora", password=PASSWORD)


@pytest.fixture
def oscar(db):
    return make_user("oscar", is_operator=True)


def sign_in(client, user, **form):
    return client.post("/accounts/login/", {"login": user.username, "password": PASSWORD} | form).headers["Location"]


def test_a_user_without_an_organisation_is_led_to_creating_one_and_not_forced(client, nora):
    assert sign_in(client, nora) == "/accounts/organisation/"
    assert 'href="/accounts/organisation/new/"' in client.get("/accounts/organisation/").text
    for page in ("/", "/submissions/", "/accounts/"):
        assert client.get(page).status_code == 200
    assert 'href="/accounts/organisation/"' in client.get("/submit/").text
    assert sign_in(client, nora, next="/accounts/tokens/") == "/accounts/tokens/"


@pytest.mark.parametrize(("role", "page"), [("is_reviewer", "/submissions/review/"), ("is_operator", "/submissions/")])
def test_reviewers_and_operators_need_no_organisation(client, role, page, db):
    assert sign_in(client, make_user("rita", password=PASSWORD, **{role: True})) == page


def test_a_new_organisation_belongs_to_its_creator_and_waits(as_user, nora):
    client = as_user(nora)
    page = client.post("/accounts/organisation/new/", NEW, follow=True).text
    assert "waits for an operator" in page
    assert '<a class="do" href="/submit/">' in page
    membership = nora.memberships.get()
    organisation = membership.organisation
    assert (membership.role, organisation.name, organisation.kind) == ("owner", "Acme Storage", "vendor")
    assert (organisation.website, organisation.confirmed_at) == ("https://acme.example", None)
    assert client.get("/submit/").status_code == 200


@pytest.mark.parametrize("page", ["https://evil.example/", "//evil.example/", "javascript:alert(1)"])
def test_after_the_creation_no_other_site_is_next(as_user, nora, page):
    assert as_user(nora).post("/accounts/organisation/new/", NEW | {"next": page}).url == "/accounts/organisation/"


def test_nobody_creates_an_organisation_of_the_register(as_user, nora):
    as_user(nora).post("/accounts/organisation/new/", NEW | {"kind": "register"})
    assert not Organisation.objects.exists()


def test_the_answer_does_not_reveal_whether_a_name_exists(as_user, nora):
    answers = []
    for _ in range(2):
        client = as_user(nora)
        answers.append(client.post("/accounts/organisation/new/", NEW).headers["Location"])
    assert answers[0] == answers[1]
    slugs = set(Organisation.objects.values_list("slug", flat=True))
    assert len(slugs) == 2
    assert all(slug.startswith("acme-storage-") for slug in slugs)


def test_one_person_has_at_most_three_organisations_that_wait(as_user, nora):
    client = as_user(nora)
    for number in range(3):
        assert client.post("/accounts/organisation/new/", NEW | {"name": f"Acme {number}"}).status_code == 302
    assert "wait for their confirmation" in client.post("/accounts/organisation/new/", NEW).text
    Organisation.objects.filter(name="Acme 0").update(confirmed_at="2026-01-01T00:00Z")
    assert client.post("/accounts/organisation/new/", NEW).status_code == 302


def test_an_operator_confirms_a_name_which_may_be_corrected(as_user, nora, oscar):
    as_user(nora).post("/accounts/organisation/new/", NEW)
    slug = Organisation.objects.get().slug
    operator = as_user(oscar)
    page = operator.get("/accounts/organisations/").text
    assert 'value="Acme Storage"' in page
    assert "https://acme.example" in page
    assert "nora" in page
    confirm = f"/accounts/organisations/{slug}/confirm/"
    assert "is confirmed." in operator.post(confirm, {"name": "Acme Storage Inc."}, follow=True).text
    assert Organisation.objects.get().name == "Acme Storage Inc."
    assert Organisation.objects.get().confirmed_at is not None
    assert "No organisation waits." in operator.get("/accounts/organisations/").text
    assert "confirmed already" in operator.post(confirm, {"name": "Other"}, follow=True).text
    assert operator.post(confirm, {"name": " "}).status_code == 404


def test_two_confirmed_organisations_never_have_the_same_name(as_user, oscar):
    make_organisation("acme")
    Organisation.objects.create(slug="acme-2", name="ACME", kind="vendor")
    answer = as_user(oscar).post("/accounts/organisations/acme-2/confirm/", {"name": "ACME"}, follow=True)
    assert "Another confirmed organisation has the name ACME." in answer.text
    assert Organisation.objects.get(slug="acme-2").confirmed_at is None
    with pytest.raises(CommandError, match="another organisation has the name"):
        call_command("add_organisation", "acme-3", "Acme")


@pytest.mark.django_db
def test_the_command_lists_what_waits_and_confirms(capsys):
    Organisation.objects.create(slug="acme", name="Acme", kind="lab", website="https://acme.example")
    call_command("confirm_organisation")
    assert capsys.readouterr().out == "acme: Acme (lab), https://acme.example\n"
    call_command("confirm_organisation", "acme", "--name", "Acme Labs")
    assert Organisation.objects.get().name == "Acme Labs"
    call_command("confirm_organisation")
    assert capsys.readouterr().out == "acme: confirmed\n"
    with pytest.raises(CommandError, match="confirmed already"):
        call_command("confirm_organisation", "acme")
    with pytest.raises(CommandError, match="no organisation 'nowhere'"):
        call_command("confirm_organisation", "nowhere")


@pytest.mark.parametrize("kind", ["vendor", "lab", "other"])
def test_nothing_of_an_organisation_is_published_before_it_is_confirmed(kind, rita):
    run = make_run(make_product(), visibility="unreviewed", **from_a_log())
    Organisation.objects.update(kind=kind, confirmed_at=None)
    with pytest.raises(ReviewRefusedError, match="No operator has confirmed the organisation"):
        visibility.publish(run, rita)
    assert Run.objects.get().visibility == "unreviewed"
    Organisation.objects.update(confirmed_at="2026-01-01T00:00Z")
    visibility.publish(run, rita)
    assert Run.objects.get().visibility == "public"


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_organisations_of_earlier_releases_are_confirmed():
    executor = MigrationExecutor(connection)
    newest = executor.loader.graph.leaf_nodes()
    executor.migrate([("results", "0027_claim_exact_status")])
    old = executor.loader.project_state([("results", "0027_claim_exact_status")]).apps
    before = old.get_model("results", "Organisation").objects.create(slug="acme", name="Acme", kind="vendor")
    MigrationExecutor(connection).migrate(newest)
    after = Organisation.objects.get()
    assert (after.pk, after.name, after.confirmed_at, after.website) == (before.pk, "Acme", before.created_at, "")
