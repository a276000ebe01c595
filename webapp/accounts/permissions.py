"""Who may do what. Each view and command asks here; docs/security.md has the same table, written by hand.

A user has two kinds of roles, which do not imply each other: one in each of their organisations (Role), and those of
the register (reviewer and operator).
"""

from enum import StrEnum

from django.db.models import QuerySet

from results.models import Organisation
from webapp.accounts.models import Role, User


class RegisterRole(StrEnum):
    """The roles that the register's own people have."""

    REVIEWER = "reviewer"
    OPERATOR = "operator"


class Action(StrEnum):
    """What a role may allow. The first four are about one organisation and its submissions."""

    READ = "read"
    CHANGE = "change"
    SUBMIT = "submit"
    MANAGE = "manage"
    REVIEW = "review"
    OPERATE = "operate"


ALLOWED: dict[Action, frozenset[Role | RegisterRole]] = {
    Action.READ: frozenset({Role.VIEWER, Role.SUBMITTER, Role.OWNER, RegisterRole.REVIEWER}),
    Action.CHANGE: frozenset({Role.SUBMITTER, Role.OWNER, RegisterRole.REVIEWER}),
    Action.SUBMIT: frozenset({Role.SUBMITTER, Role.OWNER}),
    Action.MANAGE: frozenset({Role.OWNER}),
    Action.REVIEW: frozenset({RegisterRole.REVIEWER}),
    Action.OPERATE: frozenset({RegisterRole.OPERATOR}),
}


# Of what does not exist: asking for it takes as long as for an organisation of others.
NO_ORGANISATION = 0


def may(user: object, action: Action, organisation_id: int | None = None) -> bool:
    """Return whether a user may act: by a role of the register, or by their role in the organisation."""
    if not isinstance(user, User) or not user.is_active:
        return False
    if register_roles(user) & ALLOWED[action]:
        return True
    if organisation_id is None:
        return False
    return user.memberships.filter(organisation=organisation_id, role__in=ALLOWED[action]).exists()


def organisations_of(user: User, action: Action) -> QuerySet[Organisation]:
    """Return the organisations for which a user may act as a member, by name."""
    own = user.memberships.filter(role__in=ALLOWED[action])
    return Organisation.objects.filter(pk__in=own.values("organisation")).order_by("name")


def register_roles(user: User) -> frozenset[RegisterRole]:
    """Return the roles of the register that a user has."""
    roles = ((RegisterRole.REVIEWER, user.is_reviewer), (RegisterRole.OPERATOR, user.is_operator))
    return frozenset(role for role, has in roles if has)
