"""A register in production, as Django's own checks and a browser see it."""

import os
import subprocess
import sys
from secrets import token_urlsafe

from django.conf import settings
from django.test import override_settings

PRODUCTION = {
    "PRODUCTION": "yes",
    "BEHIND_TLS_PROXY": "yes",
    "ALLOWED_HOSTS": "register.example.org",
    "DATABASE_URL": "postgresql:///register",
    "REDIS_URL": "redis://127.0.0.1:6379/0",
}
PRINT = """
from django.conf import settings
print([getattr(settings, name) for name in (
    "SECURE_HSTS_SECONDS", "SECURE_SSL_REDIRECT",
    "SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE", "SESSION_COOKIE_HTTPONLY",
)])
"""


def manage(*arguments, **environ):
    keys = {"SECRET_KEY": token_urlsafe(48), "ENCRYPTION_KEYS": token_urlsafe(48)}
    environ = os.environ | PRODUCTION | keys | environ
    command = [sys.executable, settings.BASE_DIR / "manage.py", *arguments]
    return subprocess.run(command, env=environ, capture_output=True, text=True, check=False, timeout=60)


def test_the_deployment_checks_of_django_are_clean():
    ended = manage("check", "--deploy", "--fail-level", "INFO")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "no issues" in ended.stdout


def test_the_deployment_checks_find_what_an_operator_turned_off():
    ended = manage("check", "--deploy", "--fail-level", "WARNING", SECURE_HSTS_SECONDS="0", SECURE_SSL_REDIRECT="no")
    assert ended.returncode == 1
    assert "security.W004" in ended.stderr
    assert "security.W008" in ended.stderr


def test_cookies_are_secure_and_http_is_redirected():
    assert manage("shell", "--no-imports", "--command", PRINT).stdout == "[31536000, True, True, True, True]\n"


@override_settings(SECURE_HSTS_SECONDS=31_536_000, SECURE_SSL_REDIRECT=True)
def test_a_browser_is_told_to_use_https_only(client):
    over_http = client.get("/about/")
    assert (over_http.status_code, over_http.headers["Location"]) == (301, "https://testserver/about/")
    over_https = client.get("/robots.txt", secure=True)
    assert over_https.headers["Strict-Transport-Security"] == "max-age=31536000"
