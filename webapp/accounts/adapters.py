"""The register's choices where django-allauth leaves one: addresses, links, mail, second factors."""

import logging
import time
from typing import Any

from allauth.account import app_settings
from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.authentication import get_authentication_records
from allauth.account.models import EmailConfirmation
from allauth.account.stages import EmailVerificationStage
from allauth.core import context
from allauth.core.exceptions import ImmediateHttpResponse
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from allauth.mfa.signals import authentication_failed
from allauth.usersessions.adapter import DefaultUserSessionsAdapter
from allauth.usersessions.models import UserSession
from anymail.exceptions import AnymailError
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.base_user import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from webapp.access_limits.client_address import UNKNOWN, client_address
from webapp.accounts import encryption, throttle
from webapp.accounts.audit.trail import Actor, Kind, actor_of, record
from webapp.accounts.memberships.remembered import remembered_invitation
from webapp.accounts.models import User
from webapp.accounts.permissions import Action, may, register_roles
from webapp.accounts.sessions import NO_ADDRESS

log = logging.getLogger(__name__)

SITE = "Drivecert"
THROTTLED = {"too_many_login_attempts", "rate_limited"}  # error codes of allauth
NOT_SENT = "The mail could not be sent. Try again later."


class AccountAdapter(DefaultAccountAdapter):
    """The choices for accounts."""

    error_messages = DefaultAccountAdapter.error_messages | {
        "username_is_address": "A user name must not contain @. Choose another one; you can sign in with your address.",
        "username_password_mismatch": "Name and password do not match, or the account is closed.",
        "email_password_mismatch": "Address and password do not match, or the account is closed.",
    }

    def get_client_ip(self, request: HttpRequest) -> str:
        """Return the address that all limits of the register use; allauth counts IPv6 clients by network."""
        address = client_address(request)
        return NO_ADDRESS if address == UNKNOWN else address

    def get_login_stages(self) -> list[str]:
        """Return the stages of a sign-in. Only sign-ups wait for a verified address; see SignUpVerificationStage."""
        replaced = f"{EmailVerificationStage.__module__}.{EmailVerificationStage.__qualname__}"
        own = f"{__name__}.{SignUpVerificationStage.__qualname__}"
        return [own if stage == replaced else stage for stage in super().get_login_stages()]

    def set_password(self, user: Any, password: str) -> None:
        """Set a new password, which ends all other sessions of the user."""
        super().set_password(user, password)
        own = self.request.session.session_key
        for session in UserSession.objects.filter(user=user).exclude(session_key=own):
            session.end()

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Count the try of a password; answer 429 beyond a limit."""
        login = credentials.get("username") or credentials.get("email") or ""
        self._password_try = throttle.begin_try(request, login)

    def authenticate(self, request: HttpRequest, **credentials: Any) -> AbstractBaseUser | None:
        """Return the user of the credentials. A right password does not count as a try."""
        user: AbstractBaseUser | None = super().authenticate(request, **credentials)
        if user is not None:
            self._password_try.was_right()
        return user

    def authentication_failed(self, request: HttpRequest, **credentials: Any) -> None:
        """Log and record a wrong password. What was entered as the name is not stored: it may be a password."""
        account = throttle.find_account(credentials.get("username") or credentials.get("email") or "")
        if account is not None:  # an entry that nobody could read would only let strangers fill the table
            record(Kind.SIGN_IN_FAILED, Actor(None, actor_of(request).address), account)
        log.warning("wrong password for %s from %s", account or "an unknown account", client_address(request))

    def is_email_verified(self, request: HttpRequest, email: str) -> bool:
        """Return whether the address of a sign-up needs no mail: this browser opened a link that was sent there."""
        invitation = remembered_invitation(request)
        return invitation is not None and invitation.email == email.lower()

    def get_login_redirect_url(self, request: HttpRequest) -> str:
        """Return the page after a sign-in.

        A user who opened an invitation is led back to it, a reviewer to the queue, and one without a role anywhere to
        the organisations.
        """
        if remembered_invitation(request) is not None:
            return reverse("invitation")
        user = request.user
        if isinstance(user, User) and may(user, Action.REVIEW):
            return reverse("review-list")
        has_role = not isinstance(user, User) or register_roles(user) or user.memberships.exists()
        return str(super().get_login_redirect_url(request)) if has_role else reverse("organisation-list")

    def get_signup_redirect_url(self, request: HttpRequest) -> str:
        """Return the page after a sign-up."""
        return self.get_login_redirect_url(request)

    def post_login(self, request: HttpRequest, user: Any, **kwargs: Any) -> HttpResponse:
        """Return the response after a complete sign-in, with the cookie of a known browser."""
        response: HttpResponse = super().post_login(request, user, **kwargs)
        throttle.remember_browser(request, response, user)
        return response

    def validation_error(self, code: str, *args: Any) -> ValidationError:
        """Return the error of a form. A limit that was reached is no error of a form: it answers 429."""
        if code in THROTTLED:
            raise ImmediateHttpResponse(throttle.too_many_requests(self.request))
        error: ValidationError = super().validation_error(code, *args)
        return error

    def is_reauthentication_required(self, *, app: str, **kwargs: Any) -> bool:
        """Return whether a change of the account needs the password again: not directly after the sign-in."""
        latest = time.time() - app_settings.REAUTHENTICATION_TIMEOUT
        return not any(record["at"] > latest for record in get_authentication_records(self.request, self.request.user))

    def clean_username(self, username: str, shallow: bool = False) -> str:
        """Refuse a new user name that looks like a mail address."""
        if "@" in username:
            raise self.validation_error("username_is_address")
        return str(super().clean_username(username, shallow=shallow))

    def get_email_confirmation_url(self, request: HttpRequest, emailconfirmation: EmailConfirmation) -> str:
        """Return the link that verifies an address."""
        return self.link(request, reverse("account_confirm_email", args=[emailconfirmation.key]))

    def get_reset_password_from_key_url(self, key: str) -> str:
        """Return the link that resets a password."""
        user, _, token = key.partition("-")
        return self.link(self.request, reverse("account_reset_password_from_key", args=[user, token]))

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Send a mail. If the server refuses it or does not answer, the page says so, and nothing is undone."""
        try:
            super().send_mail(template_prefix, email, context | {"site_url": self.link(self.request, "/")})
        except (OSError, AnymailError):  # errors of SMTP, of the network and of a provider
            log.exception("the mail %s could not be sent", template_prefix)
            messages.error(self.request, NOT_SENT)

    def render_mail(self, *args: Any, **kwargs: Any) -> EmailMessage:
        """Return a mail, marked as sent by a program so that no absence notice answers it."""
        mail: EmailMessage = super().render_mail(*args, **kwargs)
        mail.extra_headers["Auto-Submitted"] = "auto-generated"
        return mail

    def link(self, request: HttpRequest, path: str) -> str:
        """Return a link for a mail. In production it never uses the host name that a request claims."""
        return f"{settings.PUBLIC_URL}{path}" if settings.PRODUCTION else request.build_absolute_uri(path)


class SignUpVerificationStage(EmailVerificationStage):
    """The wait for a verified address, which only sign-ups have.

    A user who signs in without one reaches the page that enters it (required_steps). allauth would let them wait for a
    mail that an account without an address never gets.
    """

    def handle(self) -> tuple[Any, bool]:
        """Return the response that ends the stage, if any, and whether the sign-in may continue."""
        return super().handle() if self.login.signup else (None, True)


class SecondFactorAdapter(DefaultMFAAdapter):
    """The choices for authenticator apps, recovery codes and passkeys."""

    def encrypt(self, text: str) -> str:
        return encryption.encrypt(text)

    def decrypt(self, encrypted_text: str) -> str:
        return encryption.decrypt(encrypted_text)

    def get_totp_issuer(self) -> str:
        return SITE

    def get_totp_label(self, user: Any) -> str:
        return str(user.username)

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        """Return the domain that passkeys belong to, which is not the host name that a request claims."""
        return {"id": settings.PASSKEY_DOMAIN, "name": SITE}

    def generate_authenticator_name(self, user: Any, type: Authenticator.Type) -> str:
        number = Authenticator.objects.filter(user=user, type=type).count()
        return f"Passkey {number + 1}"


class SessionsAdapter(DefaultUserSessionsAdapter):
    """The end of sessions that a user chose in the list."""

    def end_sessions(self, sessions: list[UserSession]) -> None:
        super().end_sessions(sessions)
        request = context.request
        for session in sessions:
            record(Kind.SESSION_ENDED, actor_of(request), session.user)


@receiver(authentication_failed, dispatch_uid="log-wrong-code")
def log_wrong_code(request: HttpRequest, user: Any, **_: Any) -> None:
    """Log that a code of a second factor was wrong, without the code."""
    log.warning("wrong code of a second factor for %s from %s", user, client_address(request))
