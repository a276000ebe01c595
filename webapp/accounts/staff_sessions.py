"""The age of the sessions of reviewers and operators: they end a fixed time after the sign-in, also while in use."""

import time
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.contrib.auth.signals import user_logged_in
from django.dispatch import receiver
from django.http import HttpRequest

from webapp.accounts.models import User
from webapp.accounts.permissions import register_roles

SIGNED_IN_AT = "signed_in_at"  # in the session, seconds since 1970


@receiver(user_logged_in, dispatch_uid="staff-sessions")
def note_sign_in(request: HttpRequest, **_: Any) -> None:
    """Record the moment of the sign-in. A new password or a second factor later does not change it."""
    request.session[SIGNED_IN_AT] = time.time()


def end_if_old(request: HttpRequest, user: User | AnonymousUser) -> bool:
    """Remove the session if its user has a role of the register and signed in too long ago. Return whether it did.

    Sessions of earlier releases have no such moment: they end at once.
    """
    if not isinstance(user, User) or not register_roles(user):
        return False
    if time.time() - float(request.session.get(SIGNED_IN_AT, 0)) <= settings.STAFF_SESSION_S:
        return False
    request.session.flush()
    return True
