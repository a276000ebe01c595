"""Permissions of tokens that depend on the roles of their owner in the register."""

from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from webapp.accounts.backends import AuthenticationBackend
from webapp.accounts.permissions import Action, may
from webapp.accounts.required_steps import missing_step
from webapp.api.authentication import token_of
from webapp.api.problems import Problem

NO_SECOND_FACTOR = (
    "This register requires a second factor and a verified mail address of its reviewers, and the owner of the token "
    "lacks one of them. Sign in at /accounts/ and complete the missing step, then repeat the request."
)


class ReviewersOnly(BasePermission):
    """Only the token of a reviewer: other tokens submit results."""

    message = "Only reviewers may do this. This token is of a user who is no reviewer."

    def has_permission(self, request: Request, view: APIView) -> bool:
        if not may(request.user, Action.REVIEW):
            return False
        if not _has_required_steps(request):
            raise Problem(403, NO_SECOND_FACTOR, code="second-factor-missing")
        return True


def is_reviewer(request: Request) -> bool:
    """Return whether the token is of a reviewer with all that the pages require: with PRODUCTION, a second factor.

    Without it, the person has only the rights of a member, as on the pages.
    """
    return may(request.user, Action.REVIEW) and _has_required_steps(request)


def _has_required_steps(request: Request) -> bool:
    known = AuthenticationBackend().get_user(token_of(request).user_id)
    return known is not None and missing_step(known) is None
