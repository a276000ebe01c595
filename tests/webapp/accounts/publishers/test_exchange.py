"""Identity tokens of CI services by API: which get a token, what it may do, and why others are refused."""

import base64
from datetime import timedelta
from ipaddress import ip_network

import pytest
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from results.models import Submission
from tests.results.builders import make_user
from tests.webapp.accounts.publishers.issuer import AUDIENCE, KEY_KINDS, encoded, key_of, part
from webapp.accounts.audit.trail import Actor
from webapp.accounts.memberships.members import remove
from webapp.accounts.models import AccountEvent, APIToken
from webapp.accounts.publishers import keys, rules
from webapp.accounts.publishers.rules import current_publishers, end, trust

pytestmark = pytest.mark.django_db
ADDRESS = "/api/v1/trusted-publishing/"


@pytest.fixture
def issuer(service, settings):
    """Return a CI service that the register may reach, with a new key."""
    settings.OUTBOUND_ALLOWED_NETWORKS = [ip_network("127.0.0.1")]
    cache.clear()
    service.use_key("RS256")
    service.requested.clear()
    return service


@pytest.fixture
def owner(vera):
    return vera


@pytest.fixture
def organisation(exemplar):
    return exemplar


@pytest.fixture
def publisher(issuer, organisation, owner):
    claims = {"repository": "exemplar/firmware", "ref": "refs/heads/main"}
    columns = {"name": "firmware", "issuer": issuer.address, "audience": AUDIENCE, "claims": claims}
    return trust(organisation, Actor(owner), **columns)


def exchange(identity, organisation="exemplar"):
    fields = {"organisation": organisation, "identity_token": identity}
    return Client().post(ADDRESS, fields, content_type="application/json")


def refusal(identity, organisation="exemplar"):
    answer = exchange(identity, organisation)
    assert not APIToken.objects.exists()
    return answer.status_code, answer.json().get("code")


@pytest.mark.parametrize("algorithm", KEY_KINDS)
def test_a_job_submits_with_the_token_that_it_gets(issuer, publisher, organisation, evidence_dir, algorithm):
    issuer.use_key(algorithm)
    answer = exchange(issuer.token())
    assert (answer.status_code, answer.json()["scopes"]) == (201, ["submit", "read-own"])
    token = APIToken.objects.get()
    assert (token.kind, token.publisher, token.organisation) == ("publisher", publisher, organisation)
    assert timedelta(minutes=59) < token.expires_at - timezone.now() <= timedelta(hours=1)
    job = Client(headers={"Authorization": f"Bearer {answer.json()['token']}"})
    log = SimpleUploadedFile("load.log", b"no log of any tool")
    facts = {"vendor": "Exemplar", "model": "EX4", "category": "nvme-flash"}
    sent = job.post("/api/v1/submissions/", facts | {"log": log})
    assert sent.status_code == 201, sent.text
    assert Submission.objects.get().organisation == organisation
    assert job.get("/api/v1/lab/hosts/").status_code == 403


def test_the_token_of_a_job_ends_after_its_time(issuer, publisher, organisation):
    secret = exchange(issuer.token()).json()["token"]
    job = Client(headers={"Authorization": f"Bearer {secret}"})
    assert job.get("/api/v1/submissions/").status_code == 200
    APIToken.objects.update(expires_at=timezone.now())
    assert job.get("/api/v1/submissions/").status_code == 401


def test_the_tokens_of_a_publisher_end_with_the_trust_in_it(issuer, publisher, owner):
    secret = exchange(issuer.token()).json()["token"]
    end(publisher, Actor(owner))
    job = Client(headers={"Authorization": f"Bearer {secret}"})
    assert job.get("/api/v1/submissions/").status_code == 401
    assert exchange(issuer.token()).json()["code"] == "issuer-not-trusted"


def test_a_publisher_stays_when_its_creator_leaves_and_the_owners_are_notified(issuer, publisher, organisation, owner):
    olaf = make_user("olaf")
    organisation.memberships.create(user=olaf, role="owner")
    remove(Actor(olaf), owner.pk, organisation)
    assert exchange(issuer.token()).status_code == 201
    assert olaf.notices.get(kind="tokens-to-replace").details["publishers"] == ["firmware"]


def test_an_identity_token_gets_one_token(issuer, publisher):
    identity = issuer.token()
    assert exchange(identity).status_code == 201
    again = exchange(identity)
    assert (again.status_code, again.json()["code"]) == (403, "identity-used")
    assert APIToken.objects.count() == 1


def test_an_ecdsa_signature_in_its_other_form_is_the_same_identity_token(issuer, publisher):
    issuer.use_key("ES256")
    signed, _, signature = (identity := issuer.token()).rpartition(".")
    number = base64.urlsafe_b64decode(signature + "==")
    order = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
    other = number[:32] + (order - int.from_bytes(number[32:], "big")).to_bytes(32, "big")
    assert exchange(identity).status_code == 201
    twin = f"{signed}.{base64.urlsafe_b64encode(other).rstrip(b'=').decode()}"
    assert exchange(twin).json()["code"] == "identity-used"


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"aud": "https://other.example"}, "audience-differs"),
        ({"aud": None}, "identity-invalid"),
        ({"aud": ["https://other.example", AUDIENCE + "/"]}, "audience-differs"),
        ({"repository": "exemplar/other"}, "claims-differ"),
        ({"repository": None}, "claims-differ"),
        ({"repository": ["exemplar/firmware"]}, "claims-differ"),
        ({"ref": "refs/heads/mainline"}, "claims-differ"),
        ({"exp": 1}, "identity-invalid"),
        ({"exp": None}, "identity-invalid"),
        ({"nbf": 4102444800}, "identity-invalid"),
        ({"iat": None}, "identity-invalid"),
        ({"iss": "https://other.example"}, "issuer-not-trusted"),
    ],
)
def test_an_identity_token_with_other_claims_is_refused(issuer, publisher, changed, code):
    assert refusal(issuer.token(**changed)) == (403, code)


def test_several_audiences_may_include_that_of_the_register(issuer, publisher):
    assert exchange(issuer.token(aud=["https://other.example", AUDIENCE])).status_code == 201


@pytest.mark.parametrize(("age_s", "status"), [(3590, 201), (3620, 403)])
def test_an_identity_token_is_at_most_an_hour_old(issuer, publisher, age_s, status):
    issued_at = int(timezone.now().timestamp()) - age_s
    assert exchange(issuer.token(iat=issued_at)).status_code == status


def test_an_identity_token_without_a_signature_is_refused(issuer, publisher):
    signed = f"{part({'alg': 'none', 'kid': issuer.key.kid})}.{part(issuer.claims())}."
    assert refusal(signed) == (403, "identity-invalid")


def test_the_public_key_is_no_shared_secret(issuer, publisher):
    forged = issuer.token_by_secret(issuer.key.as_pem(private=False))
    assert refusal(forged) == (403, "identity-invalid")


def test_the_signature_of_another_key_is_refused(issuer, publisher):
    assert refusal(issuer.token_by(key_of("RS256", 1))) == (403, "identity-invalid")


def test_a_symmetric_key_of_the_issuer_is_not_used(issuer, publisher):
    secret = b"a secret that the issuer published"
    issuer.documents["/keys"] = {"keys": [{"kty": "oct", "k": encoded(secret), "kid": issuer.key.kid, "alg": "HS256"}]}
    assert refusal(issuer.token_by_secret(secret)) == (403, "identity-invalid")


@pytest.mark.parametrize("identity", ["x", "a.b.c", "." * 10, "e30.e30.", "\u0661.\u0662.x", "x" * 16_385, ""])
def test_something_else_is_refused(issuer, publisher, identity):
    status, code = refusal(identity)
    assert (status, code) in {(403, "identity-unreadable"), (400, None)}
    assert not issuer.requested


def test_a_stranger_does_not_learn_whom_an_organisation_trusts(issuer, publisher, organisation):
    foreign = issuer.token(iss="https://other.example")
    assert exchange(foreign).json() == exchange(foreign, "nobody").json()
    assert not issuer.requested


def test_a_new_key_of_the_issuer_is_found(issuer, publisher):
    assert exchange(issuer.token()).status_code == 201
    issuer.use_key("ES256")
    cache.delete(f"{keys._name(issuer.address)}:read")
    assert exchange(issuer.token()).status_code == 201
    assert issuer.requested.count("/keys") == 2


def test_unknown_keys_do_not_make_the_register_ask_again_and_again(issuer, publisher):
    assert exchange(issuer.token()).status_code == 201
    assert {exchange(issuer.token({"kid": f"unknown-{number}"})).status_code for number in range(5)} == {403}
    assert issuer.requested.count("/keys") == 1


@pytest.mark.parametrize(
    ("path", "document"),
    [
        ("/keys", None),
        ("/keys", b"<html>"),
        ("/keys", []),
        ("/keys", {"keys": "none"}),
        ("/.well-known/openid-configuration", {"issuer": "https://other.example", "jwks_uri": "x"}),
        ("/.well-known/openid-configuration", {"issuer": "{address}"}),
    ],
)
def test_an_issuer_without_readable_keys_is_named(issuer, publisher, path, document):
    if isinstance(document, dict) and document.get("issuer") == "{address}":
        document = {"issuer": issuer.address}
    issuer.documents[path] = document
    answer = exchange(issuer.token())
    assert (answer.status_code, answer.json()["code"]) == (503, "issuer-unreachable")
    assert issuer.address in answer.json()["detail"]
    assert answer.headers["Retry-After"]


def test_an_issuer_that_does_not_answer_is_requested_once_in_a_while(issuer, publisher):
    issuer.documents["/keys"] = None
    assert {exchange(issuer.token()).json()["code"] for _ in range(5)} == {"issuer-unreachable"}
    assert issuer.requested.count("/keys") == 1


@pytest.mark.parametrize("issued_at", ["soon", -(10**400)])
def test_a_time_that_is_no_time_is_refused(issuer, publisher, issued_at):
    assert refusal(issuer.token_by_secret(b"x", iat=issued_at))[0] == 403
    signed = issuer.signed({**issuer.claims(), "iat": issued_at})
    assert refusal(signed) == (403, "identity-invalid")


def test_a_trust_that_ends_during_an_exchange_gives_no_token(issuer, publisher, owner, monkeypatch):
    found = rules.find_key

    def find_and_end(*arguments):
        end(publisher, Actor(owner))
        return found(*arguments)

    monkeypatch.setattr(rules, "find_key", find_and_end)
    assert refusal(issuer.token()) == (403, "issuer-not-trusted")


def test_each_token_is_in_the_events_of_the_organisation(issuer, publisher):
    exchange(issuer.token())
    event = AccountEvent.objects.get(kind="token-created")
    assert event.details == {"token": APIToken.objects.get().pk}


def test_an_issuer_in_a_network_that_is_not_public_is_not_asked(issuer, publisher, settings):
    settings.OUTBOUND_ALLOWED_NETWORKS = []
    assert refusal(issuer.token()) == (503, "issuer-unreachable")
    assert not issuer.requested


def test_an_ended_publisher_is_no_longer_listed(publisher, organisation, owner):
    end(publisher, Actor(owner))
    assert not current_publishers(organisation).exists()
