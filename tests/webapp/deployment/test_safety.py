"""Settings that production refuses: each unsafe value with a sentence, and the nearest safe value without one."""

from ipaddress import ip_network

import pytest
from django.core.exceptions import ImproperlyConfigured

from webapp.deployment.safety import key_weakness, refuse_unsafe, unsafe_settings

KEY = "9Jv0xqTzWm3Lr7Yb2Kd8Nf4Hs6Pc1Gw5"
SAFE = {
    "SECRET_KEY": KEY,
    "ENCRYPTION_KEYS": [KEY],
    "DEVELOPMENT_SECRET_KEY": "development-only-never-in-production",
    "ALLOWED_HOSTS": ["register.example.org"],
    "PUBLIC_URL": "https://register.example.org",
    "EVIDENCE_ORIGIN": "",
    "CSRF_TRUSTED_ORIGINS": [],
    "BEHIND_TLS_PROXY": True,
    "SECURE_SSL_REDIRECT": True,
    "TRUSTED_PROXIES": [ip_network("10.0.0.0/8")],
    "DEBUG": False,
    "DATABASE_URL": "postgresql:///register",
    "REDIS_URL": "redis://redis:6379/0",
}


def problems(**changed):
    return list(unsafe_settings(SAFE | changed))


def test_safe_settings_pass():
    assert problems() == []
    refuse_unsafe(SAFE)


@pytest.mark.parametrize(
    ("key", "found"),
    [
        ("x", "1 characters"),
        (KEY[:31], "31 characters"),
        (KEY, ""),
        ("x" * 50, "only 1 different characters"),
        ("123456789" * 4, "only 9 different characters"),
        ("abcdefghijklmnop" * 2, "a short text that is repeated"),
        ("abcdefghijklmnop" * 2 + "q", ""),
        ("0f9a6b3c5d7e8120f4a9b6c3d5e7f801", ""),
        ("development-only-never-in-production", "a placeholder of a document or of development"),
        ("django-insecure-" + KEY, "a placeholder of a document or of development"),
        ("...a long random text of 50 characters...", "a placeholder of a document or of development"),
    ],
)
def test_weak_keys_are_found(key, found):
    assert key_weakness(key) == found
    assert [found in problem for problem in problems(SECRET_KEY=key)] == ([True] if found else [])


@pytest.mark.parametrize(
    ("keys", "count"), [([], 1), (["short"], 1), (["short", KEY], 1), ([KEY, "short"], 0), ([KEY, KEY[::-1]], 0),
                        ([KEY, "development-only-never-in-production"], 1)],
)  # fmt: skip
def test_only_the_newest_encryption_key_must_be_strong(keys, count):
    """A weak key of earlier years still decrypts until the secrets are encrypted with a newer one."""
    assert len(problems(ENCRYPTION_KEYS=keys)) == count


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({"DEBUG": True}, "set DEBUG to no: expected no, found yes"),
        ({"ALLOWED_HOSTS": []}, "set ALLOWED_HOSTS to the names this site answers to"),
        ({"ALLOWED_HOSTS": ["*"]}, "found '*'"),
        ({"ALLOWED_HOSTS": ["register.example.org", "*.example.org"]}, "found '*.example.org'"),
        ({"ALLOWED_HOSTS": ["https://register.example.org"]}, "found 'https://register.example.org'"),
        ({"ALLOWED_HOSTS": ["files.example.org"], "EVIDENCE_ORIGIN": "https://files.example.org"}, "found none"),
        ({"PUBLIC_URL": "http://register.example.org"}, "set PUBLIC_URL to an address with https"),
        ({"EVIDENCE_ORIGIN": "http://files.example.org"}, "set EVIDENCE_ORIGIN to an address with https"),
        ({"CSRF_TRUSTED_ORIGINS": ["http://register.example.org"]}, "set CSRF_TRUSTED_ORIGINS to addresses with https"),
        ({"BEHIND_TLS_PROXY": False}, "set BEHIND_TLS_PROXY with SECURE_SSL_REDIRECT"),
        ({"TRUSTED_PROXIES": [ip_network("0.0.0.0/0")]}, "found 0.0.0.0/0"),
        ({"TRUSTED_PROXIES": [ip_network("::/0")]}, "found ::/0"),
        ({"DATABASE_URL": ""}, "set DATABASE_URL: expected the address of a server, found none"),
        ({"REDIS_URL": ""}, "set REDIS_URL"),
    ],
)
def test_an_unsafe_value_is_refused_with_its_remedy(changed, found):
    (problem,) = problems(**changed)
    assert found in problem


@pytest.mark.parametrize(
    "changed",
    [
        {"ALLOWED_HOSTS": [".example.org"]},
        {"BEHIND_TLS_PROXY": False, "SECURE_SSL_REDIRECT": False},
        {"SECURE_SSL_REDIRECT": False},
        {"TRUSTED_PROXIES": []},
        {"TRUSTED_PROXIES": [ip_network("10.1.2.3/32")]},
        {"EVIDENCE_ORIGIN": "https://files.example.org", "ALLOWED_HOSTS": ["a.example.org", "files.example.org"]},
        {"CSRF_TRUSTED_ORIGINS": ["https://register.example.org"]},
    ],
)
def test_the_safe_side_of_each_rule_passes(changed):
    assert problems(**changed) == []


def test_all_unsafe_settings_are_named_at_once():
    with pytest.raises(ImproperlyConfigured) as refused:
        refuse_unsafe(SAFE | {"SECRET_KEY": "x", "DEBUG": True})
    assert [line.split(":")[0] for line in str(refused.value).splitlines()] == ["PRODUCTION", "PRODUCTION"]
