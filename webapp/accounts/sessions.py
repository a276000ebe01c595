"""Sessions of which the database holds no usable key and no readable content.

The cookie of a browser has a random key. The database has its SHA-256, in the table of sessions and in allauth's list
of the sessions of a user. Only the middleware sees both: for Django and allauth, the hash is the key of the session.
The content is encrypted, because it can contain the key of an authenticator app that is being set up.
"""

from base64 import b85encode
from hashlib import sha256
from typing import Any

from django.conf import settings
from django.contrib.sessions.backends import db
from django.contrib.sessions.middleware import SessionMiddleware as DjangoSessionMiddleware
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import get_random_string

from webapp.accounts.encryption import UnknownKeyError, decrypt, encrypt

NO_ADDRESS = "::"  # of no connection, or removed: allauth stores an address for each session
COOKIE_KEY_CHARS = 32  # of 62 characters each: 190 random bits, so that no slow hash is needed


def hash_key(cookie_key: str) -> str:
    """Return the SHA-256 of the key in a cookie. In base 85 it has 40 characters, as many as the columns hold."""
    return b85encode(sha256(cookie_key.encode()).digest()).decode()


class SessionStore(db.SessionStore):
    """A session in the database, under the hash of the key in its cookie."""

    cookie_key: str | None = None

    def _get_new_session_key(self) -> str:
        self.cookie_key = get_random_string(COOKIE_KEY_CHARS)
        return hash_key(self.cookie_key)

    def encode(self, session_dict: dict[str, Any]) -> str:
        """Return the content as it is stored: signed by Django, then encrypted."""
        return encrypt(super().encode(session_dict))

    def decode(self, session_data: bytes | str) -> dict[str, Any]:
        """Return the content. Without its key, the session is empty and its user has to sign in again."""
        try:
            content: dict[str, Any] = super().decode(decrypt(str(session_data)))
        except UnknownKeyError:
            return {}
        return content


class SessionMiddleware(DjangoSessionMiddleware):
    """Translates between the key in the cookie and the hash under which the session is stored."""

    def process_request(self, request: HttpRequest) -> None:
        """Give the request the session of its cookie."""
        cookie_key = request.COOKIES.get(settings.SESSION_COOKIE_NAME)
        session = SessionStore(hash_key(cookie_key) if cookie_key else None)
        session.cookie_key = cookie_key
        request.session = session

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        """Let Django decide about the cookie, and give it the key instead of the hash."""
        response = super().process_response(request, response)
        morsel = response.cookies.get(settings.SESSION_COOKIE_NAME)
        if morsel is not None and morsel.value:
            response.cookies[settings.SESSION_COOKIE_NAME] = str(request.session.cookie_key)  # type: ignore[attr-defined]
        return response
