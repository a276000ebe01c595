"""Limits on wrong passwords: by account, and by the network of the client.

Someone who tries passwords must not lock out the owner of the account. A browser that signed in before has a cookie
with a random id. Its tries of that account count by the id, so that no other client can use them up. This follows the
device cookies of OWASP. A passkey is no password, so that these limits do not count it.
"""

import hashlib
import logging
import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from secrets import token_urlsafe

from allauth.account.internal.userkit import filter_users_by_email
from allauth.core.exceptions import ImmediateHttpResponse
from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from webapp.access_limits import process_limits
from webapp.access_limits.client_address import client_network
from webapp.access_limits.shared_limits import LimitReachedError, SharedLimit
from webapp.accounts.models import User

log = logging.getLogger(__name__)

WRONG_PASSWORDS = 10
PERIOD_S = 900
OF_NETWORK = SharedLimit("wrong-passwords-of-network", WRONG_PASSWORDS, PERIOD_S)
OF_ACCOUNT = SharedLimit("wrong-passwords-of-account", WRONG_PASSWORDS, PERIOD_S)
OF_BROWSER = SharedLimit("wrong-passwords-of-browser", WRONG_PASSWORDS, PERIOD_S)

COOKIE = "known_browser"
COOKIE_PATH = "/accounts/"
COOKIE_AGE_S = 365 * 86_400
ACCOUNTS_MAX = 5  # in one browser


@dataclass(frozen=True)
class KnownBrowser:
    """A browser that signed in before: its random id, and the ids of the accounts. It names no secret."""

    browser: str
    accounts: list[int]


@dataclass
class PasswordTry:
    """One try of a password. It counts until it turns out to be right."""

    uses: list[tuple[SharedLimit, str, str]] = field(default_factory=list)

    def was_right(self) -> None:
        """Take the try out of the counts."""
        for limit, client, use in self.uses:
            process_limits.give_back(limit, client, use)


def begin_try(request: HttpRequest, login: str) -> PasswordTry:
    """Count a try of a password, before it is checked. Raises ImmediateHttpResponse beyond a limit."""
    password_try = PasswordTry()
    try:
        for limit, client in _limits(request, login):
            password_try.uses.append((limit, client, process_limits.take(limit, client)))
    except LimitReachedError as reached:
        log.warning("too many wrong passwords: %s for %s", limit.name, client)
        raise ImmediateHttpResponse(too_many_requests(request, reached.wait_s)) from reached
    return password_try


def find_account(login: str) -> User | None:
    """Return the account that a name or an address means, whether or not the password is right."""
    user = User.objects.filter(username=login).first() or User.objects.filter(username__iexact=login).first()
    if user is None and "@" in login:
        user = next(iter(filter_users_by_email(login, prefer_verified=True, for_login=True)), None)
    return user


def remember_browser(request: HttpRequest, response: HttpResponse, user: User) -> None:
    """Give a browser that has signed in the cookie by which its later tries are counted."""
    known = read_known_browser(request) or KnownBrowser(token_urlsafe(16), [])
    others = [account for account in known.accounts if account != user.pk]
    value = {"browser": known.browser, "accounts": [*others, user.pk][-ACCOUNTS_MAX:]}
    response.set_cookie(
        COOKIE,
        signing.dumps(value, salt=COOKIE),
        max_age=COOKIE_AGE_S,
        path=COOKIE_PATH,
        secure=bool(settings.SESSION_COOKIE_SECURE),
        httponly=True,
        samesite="Lax",
    )


def read_known_browser(request: HttpRequest) -> KnownBrowser | None:
    """Return what the cookie of a browser states; None without a cookie that this register signed."""
    with suppress(signing.BadSignature):
        return KnownBrowser(**signing.loads(request.COOKIES.get(COOKIE, ""), salt=COOKIE, max_age=COOKIE_AGE_S))
    return None


def too_many_requests(request: HttpRequest, wait_s: int = PERIOD_S) -> HttpResponse:
    """Return status 429, as a page that says when to try again. The limits of allauth do not say when."""
    wait = timedelta(minutes=math.ceil(wait_s / 60))
    response = render(
        request, "429.html", {"wait_s": int(wait.total_seconds()), "until": timezone.now() + wait}, status=429
    )
    response.headers["Retry-After"] = str(wait_s)
    response.headers["Cache-Control"] = "no-store"
    return response


def _limits(request: HttpRequest, login: str) -> Iterator[tuple[SharedLimit, str]]:
    account, known = find_account(login), read_known_browser(request)
    if account is not None and known is not None and account.pk in known.accounts:
        yield OF_BROWSER, f"{known.browser}:{account.pk}"
        return
    # A name without an account is counted too: the answer must not say which accounts exist.
    name = f"user-{account.pk}" if account else f"name-{hashlib.sha256(login.lower().encode()).hexdigest()}"
    yield OF_NETWORK, client_network(request)
    yield OF_ACCOUNT, name
