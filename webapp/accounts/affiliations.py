"""The organisations of a reviewer at a moment, which each approval of theirs stores."""

from datetime import datetime

from webapp.accounts.models import FormerMembership, Membership


def organisations_at(user_id: int, moment: datetime) -> frozenset[int]:
    """Return the organisations to which a user belonged at a moment, in any role, also if the membership ended since.

    Memberships that ended before release 0.5 are unknown.
    """
    current = Membership.objects.filter(user=user_id, joined_at__lte=moment)
    former = FormerMembership.objects.filter(user=user_id, joined_at__lte=moment, left_at__gte=moment)
    return frozenset(current.values_list("organisation", flat=True)) | frozenset(
        former.values_list("organisation", flat=True)
    )
