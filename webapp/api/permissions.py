"""Permissions of tokens: what their scopes allow, and what the roles of their owner in the register allow."""

from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from webapp.accounts.backends import AuthenticationBackend
from webapp.accounts.models import APIToken, Scope
from webapp.accounts.permissions import Action, may
from webapp.accounts.required_steps import missing_step
from webapp.api.authentication import token_of
from webapp.api.problems import Problem

NO_SECOND_FACTOR = (
    "This register requires a second factor and a verified mail address of its reviewers and operators, and the owner "
    "of the token lacks one of them. Sign in at /accounts/ and complete the missing step, then repeat the request."
)
NO_SCOPE = "The request needs a token with the scope {needed}. This one has: {present}. Create another token."
SAFE = {"GET", "HEAD", "OPTIONS"}


class NeedsScope(BasePermission):
    """Only a token that has the scope of the view: `read_scope` for safe methods, `change_scope` for the others."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        if not request.auth:
            return False
        name = "read_scope" if request.method in SAFE else "change_scope"
        require_scope(request, *scopes_of(view, name))
        return True


def require_scope(request: Request, *allowed: Scope) -> None:
    """Raise Problem unless the token has one of some scopes."""
    present = token_of(request).scopes
    if not set(allowed) & set(present):
        sentence = NO_SCOPE.format(needed=" or ".join(allowed), present=", ".join(present))
        raise Problem(403, sentence, code="scope-missing", scopes=list(allowed))


def scopes_of(view: APIView | type[APIView], name: str) -> tuple[Scope, ...]:
    """Return the scopes of which one is enough for a view."""
    stated = getattr(view, name, Scope.READ_OWN if name == "read_scope" else Scope.SUBMIT)
    return stated if isinstance(stated, tuple) else (stated,)


class ReviewersOnly(BasePermission):
    """Only the token of a reviewer: other tokens submit results."""

    message = "Only reviewers may do this. This token is of a user who is no reviewer."

    def has_permission(self, request: Request, view: APIView) -> bool:
        if not may(request.user, Action.REVIEW):
            return False
        if not _has_required_steps(request):
            raise Problem(403, NO_SECOND_FACTOR, code="second-factor-missing")
        return True


class OperatorsOnly(BasePermission):
    """Only the token of an operator, or of a machine: an operator gave the machine its scopes."""

    message = "Only operators may do this. This token is of a user who is no operator."

    def has_permission(self, request: Request, view: APIView) -> bool:
        if token_of(request).kind == APIToken.Kind.MACHINE:
            return True
        if not may(request.user, Action.OPERATE):
            return False
        if not _has_required_steps(request):
            raise Problem(403, NO_SECOND_FACTOR, code="second-factor-missing")
        return True


def is_reviewer(request: Request) -> bool:
    """Return whether the token reviews, and is of a reviewer with all that the pages require.

    With PRODUCTION, that is a second factor. Without it, the person has only the rights of a member, as on the pages.
    """
    has_scope = Scope.REVIEW in token_of(request).scopes
    return has_scope and may(request.user, Action.REVIEW) and _has_required_steps(request)


def _has_required_steps(request: Request) -> bool:
    known = AuthenticationBackend().get_user(token_of(request).user_id)
    return known is not None and missing_step(known) is None
