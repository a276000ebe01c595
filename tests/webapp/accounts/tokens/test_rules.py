"""The life of tokens: what they open, until when, and what the database refuses."""

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from tests.results.builders import make_user
from webapp.accounts.models import APIToken
from webapp.accounts.tokens.rules import bearer_secret, find_token, issue_token

pytestmark = pytest.mark.django_db
NOW = timezone.now()


def test_a_token_ends_with_the_membership_of_its_owner(vera, exemplar):
    token, secret = issue_token(vera, exemplar, "script")
    assert find_token(secret) == token
    vera.memberships.all().delete()
    assert find_token(secret) is None


def test_a_machine_token_works_after_its_creator_has_left_and_closed_the_account(vera, exemplar):
    token, secret = issue_token(vera, exemplar, "script", kind="machine")
    vera.memberships.all().delete()
    vera.is_active = False
    vera.save()
    assert find_token(secret) == token


@pytest.mark.parametrize("kind", ["personal", "machine"])
def test_a_token_ends_when_it_expires_or_is_revoked(vera, exemplar, kind):
    token, secret = issue_token(vera, exemplar, "script", kind=kind, expires_at=NOW + timedelta(days=1))
    assert find_token(secret) == token
    for ended in ({"expires_at": NOW}, {"expires_at": None, "revoked_at": NOW}):
        APIToken.objects.update(**ended)
        assert find_token(secret) is None


def test_the_last_use_is_stored_to_the_minute(vera, exemplar):
    token, secret = issue_token(vera, exemplar, "script")
    find_token("dc_of-nobody")
    token.refresh_from_db()
    assert token.last_used_at is None
    find_token(secret)
    token.refresh_from_db()
    first = token.last_used_at
    assert first is not None
    find_token(secret)
    token.refresh_from_db()
    assert token.last_used_at == first
    APIToken.objects.update(last_used_at=first - timedelta(seconds=60))
    find_token(secret)
    token.refresh_from_db()
    assert token.last_used_at > first


@pytest.mark.parametrize("columns", [{"scopes": []}, {"scopes": ["all"]}, {"kind": "machine", "scopes": ["review"]}])
def test_the_database_refuses_tokens_without_scopes_with_unknown_ones_and_reviewing_machines(exemplar, columns):
    user = make_user("ann", exemplar)
    with pytest.raises(IntegrityError), transaction.atomic():
        APIToken.objects.create(user=user, organisation=exemplar, name="a", digest="0" * 64, **columns)


@pytest.mark.parametrize(("header", "secret"), [
    ("Bearer dc_a", "dc_a"), ("bearer  dc_a ", "dc_a"), ("Basic dc_a", None), ("", None), ("Bearer", ""),
])  # fmt: skip
def test_the_secret_is_read_from_a_bearer_header(header, secret):
    assert bearer_secret(header) == secret
