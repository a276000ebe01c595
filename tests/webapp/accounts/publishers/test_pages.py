"""The page of trusted publishers: owners describe the jobs of a CI service that may submit, and end the trust."""

from ipaddress import ip_network

import pytest

from tests.results.builders import make_user
from webapp.accounts.models import AccountEvent, Role, TrustedPublisher
from webapp.accounts.publishers.rules import PUBLISHERS_MAX

pytestmark = pytest.mark.django_db
PAGE = "/accounts/organisations/exemplar/publishers/"


@pytest.fixture
def form(service, settings):
    """Return the fields of a publisher whose issuer the register may reach."""
    settings.OUTBOUND_ALLOWED_NETWORKS = [ip_network("127.0.0.1")]
    claims = "repository=exemplar/firmware\n\n ref = refs/heads/main "
    return {"name": "firmware", "issuer": service.address, "audience": "https://register.example", "claims": claims}


def test_an_owner_adds_and_ends_a_publisher(as_user, vera, exemplar, form):
    client = as_user(vera)
    assert client.post(PAGE, form).status_code == 302
    publisher = TrustedPublisher.objects.get()
    assert publisher.claims == {"repository": "exemplar/firmware", "ref": "refs/heads/main"}
    assert "repository=exemplar/firmware" in client.get(PAGE).text
    client.post(f"{PAGE}{publisher.pk}/end/")
    assert "trusts no publisher yet" in client.get(PAGE).text
    kinds = AccountEvent.objects.order_by("at").values_list("kind", flat=True)
    assert list(kinds) == ["publisher-trusted", "publisher-ended"]
    assert "Trusted publisher added: firmware" in client.get("/accounts/organisations/exemplar/events/").text


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"claims": ""}, "This field is required."),
        ({"claims": "repository"}, "Expected name=value on each line, got repository."),
        ({"claims": "=x"}, "Expected name=value"),
        ({"claims": "aud=x"}, "Expected a claim that names the job, got aud."),
        ({"claims": "a=1\na=2"}, "Expected each claim once, got a twice."),
        ({"claims": "\n".join(f"c{number}=1" for number in range(11))}, "Expected at most 10 claims, got 11."),
        ({"issuer": "http://127.0.0.1:1"}, "The keys of this issuer cannot be read."),
        ({"issuer": "ftp://issuer.example"}, "The keys of this issuer cannot be read."),
        ({"audience": ""}, "This field is required."),
    ],
)
def test_a_publisher_that_could_not_be_checked_is_refused(as_user, vera, exemplar, form, changed, sentence):
    assert sentence in as_user(vera).post(PAGE, form | changed).text
    assert not TrustedPublisher.objects.exists()


def test_a_name_is_used_once_until_its_publisher_ends(as_user, vera, exemplar, form):
    client = as_user(vera)
    client.post(PAGE, form)
    assert "There is a publisher of this name already" in client.post(PAGE, form).text
    client.post(f"{PAGE}{TrustedPublisher.objects.get().pk}/end/")
    assert client.post(PAGE, form).status_code == 302


def test_an_organisation_has_a_limit_of_publishers(as_user, vera, exemplar, form):
    TrustedPublisher.objects.bulk_create(
        TrustedPublisher(organisation=exemplar, created_by=vera, name=f"p{number}", issuer="x", audience="y",
                         claims={"sub": "z"})
        for number in range(PUBLISHERS_MAX)
    )  # fmt: skip
    assert f"has {PUBLISHERS_MAX} publishers already" in as_user(vera).post(PAGE, form).text


@pytest.mark.parametrize("role", [Role.SUBMITTER, Role.VIEWER])
def test_only_owners_see_add_and_end_publishers(as_user, vera, exemplar, form, role):
    as_user(vera).post(PAGE, form)
    publisher = TrustedPublisher.objects.get()
    member = make_user("tom")
    member.memberships.create(organisation=exemplar, role=role)
    for client in (as_user(make_user("sue")), as_user(member)):
        assert client.get(PAGE).status_code == 404
        assert client.post(PAGE, form).status_code == 404
        assert client.post(f"{PAGE}{publisher.pk}/end/").status_code == 404
    assert TrustedPublisher.objects.get().ended_at is None
