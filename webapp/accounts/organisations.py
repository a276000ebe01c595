"""For whom a person may act."""

from django.contrib.auth.models import AnonymousUser
from django.db.models import QuerySet

from results.models import Organisation
from webapp.accounts.models import User


def organisations_of(user: User) -> QuerySet[Organisation]:
    """Return the organisations that a person acts for, by name."""
    return Organisation.objects.filter(memberships__user=user).order_by("name")


def acts_for(user: User | AnonymousUser, organisation_id: int) -> bool:
    """Tell whether a signed-in person is a member of an organisation."""
    return isinstance(user, User) and user.memberships.filter(organisation=organisation_id).exists()
