"""Entries of the audit trail about what django-allauth does: sign-ins, passwords, addresses and second factors."""

from typing import Any

from allauth.account import signals as account
from allauth.account.authentication import get_authentication_records
from allauth.account.models import EmailAddress
from allauth.mfa import signals as mfa
from allauth.mfa.models import Authenticator
from django.contrib.auth.signals import user_logged_out
from django.dispatch import receiver
from django.http import HttpRequest

from webapp.accounts.audit.trail import Actor, Kind, actor_of, record
from webapp.accounts.models import User


@receiver(account.user_signed_up, dispatch_uid="audit-sign-up")
def record_sign_up(request: HttpRequest, user: User, **_: Any) -> None:
    """Record a sign-up."""
    record(Kind.ACCOUNT_CREATED, _as_user(request, user), user)


@receiver(account.user_logged_in, dispatch_uid="audit-sign-in")
def record_sign_in(request: HttpRequest, user: User, **_: Any) -> None:
    """Record a complete sign-in with its methods, such as password and mfa."""
    methods = [str(each["method"]) for each in get_authentication_records(request, user)]
    record(Kind.SIGNED_IN, _as_user(request, user), user, methods=methods)


@receiver(user_logged_out, dispatch_uid="audit-sign-out")
def record_sign_out(request: HttpRequest, user: User | None, **_: Any) -> None:
    """Record a sign-out."""
    if user is not None:
        record(Kind.SIGNED_OUT, _as_user(request, user), user)


@receiver(account.password_changed, dispatch_uid="audit-password-change")
@receiver(account.password_set, dispatch_uid="audit-password-set")
def record_password_change(request: HttpRequest, user: User, **_: Any) -> None:
    """Record a changed password, which ended the other sessions."""
    record(Kind.PASSWORD_CHANGED, _as_user(request, user), user)


@receiver(account.password_reset, dispatch_uid="audit-password-reset")
def record_password_reset(request: HttpRequest, user: User, **_: Any) -> None:
    """Record a password that was reset by a link in a mail."""
    record(Kind.PASSWORD_RESET, _as_user(request, user), user)


@receiver(account.email_added, dispatch_uid="audit-address-entered")
def record_entered_address(request: HttpRequest, user: User, **_: Any) -> None:
    """Record a new address, which is not verified yet."""
    record(Kind.ADDRESS_ENTERED, _as_user(request, user), user)


@receiver(account.email_confirmed, dispatch_uid="audit-address-verified")
def record_verified_address(request: HttpRequest, email_address: EmailAddress, **_: Any) -> None:
    """Record a verified address. The browser that opened the link may not be signed in."""
    record(Kind.ADDRESS_VERIFIED, actor_of(request), email_address.user)


@receiver(mfa.authenticator_added, dispatch_uid="audit-factor-added")
def record_added_factor(request: HttpRequest, user: User, authenticator: Authenticator, **_: Any) -> None:
    """Record a new authenticator app, passkey or set of recovery codes."""
    record(Kind.SECOND_FACTOR_ADDED, _as_user(request, user), user, type=str(authenticator.type))


@receiver(mfa.authenticator_removed, dispatch_uid="audit-factor-removed")
def record_removed_factor(request: HttpRequest, user: User, authenticator: Authenticator, **_: Any) -> None:
    """Record a removed authenticator app, passkey or set of recovery codes."""
    record(Kind.SECOND_FACTOR_REMOVED, _as_user(request, user), user, type=str(authenticator.type))


@receiver(mfa.authenticator_reset, dispatch_uid="audit-codes-replaced")
def record_replaced_codes(request: HttpRequest, user: User, **_: Any) -> None:
    """Record new recovery codes, which replace the old ones."""
    record(Kind.RECOVERY_CODES_REPLACED, _as_user(request, user), user)


@receiver(mfa.authentication_failed, dispatch_uid="audit-wrong-code")
def record_wrong_code(request: HttpRequest, user: User, **_: Any) -> None:
    """Record a wrong code of a second factor. Until the code is right, the client is not known to be the user."""
    record(Kind.SECOND_FACTOR_FAILED, actor_of(request), user)


def _as_user(request: HttpRequest, user: User) -> Actor:
    """Return the user as the actor: during these steps, the request can still be that of an anonymous client."""
    return Actor(user, actor_of(request).address)
