"""The periodic removal of personal data whose period has passed; docs/privacy.md states the periods."""

from datetime import timedelta
from functools import reduce
from operator import or_

from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from webapp.accounts.models import AccountEvent, Invitation
from webapp.accounts.sessions import NO_ADDRESS, SessionStore

RETENTION = timedelta(days=90)


def remove_personal_data() -> None:
    """Remove addresses after 90 days, ended sessions, and ended invitations after 90 days. Safe to repeat."""
    latest = timezone.now() - RETENTION
    AccountEvent.objects.filter(address__isnull=False, at__lte=latest).update(address=None)
    SessionStore.clear_expired()
    current = Session.objects.filter(session_key=OuterRef("session_key"))
    UserSession.objects.filter(~Exists(current)).delete()
    UserSession.objects.filter(created_at__lte=latest).exclude(ip=NO_ADDRESS).update(ip=NO_ADDRESS)
    columns = ("accepted_at", "revoked_at", "declined_at", "expires_at")
    ended = reduce(or_, (Q(**{f"{column}__lte": latest}) for column in columns))
    Invitation.objects.filter(ended).delete()
