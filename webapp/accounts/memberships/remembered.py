"""The invitation that a browser opened, in its session: it outlasts a sign-in or a sign-up in this browser."""

from django.http import HttpRequest

from webapp.accounts.models import Invitation

KEY = "invitation"


def remember_invitation(request: HttpRequest, invitation: Invitation) -> None:
    """Keep the number of an invitation whose secret the browser had."""
    request.session[KEY] = invitation.pk


def remembered_invitation(request: HttpRequest) -> Invitation | None:
    """Return the invitation; None without one, or once it can no longer be accepted."""
    number: int | None = request.session.get(KEY)
    if number is None:
        return None
    return Invitation.objects.acceptable().filter(pk=number).select_related("organisation", "invited_by").first()


def forget_invitation(request: HttpRequest) -> None:
    """Remove the number from the session."""
    request.session.pop(KEY, None)
