"""The outbox: one row per recipient, written in the transaction of the change."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Case, QuerySet, Value, When

from results.models import Event
from webapp.accounts.models import User
from webapp.accounts.permissions import ALLOWED, Action
from webapp.notices.kinds import Audience, Kind
from webapp.notices.models import Notice

Subject = tuple[str, str]  # type and id, as events have them


def notify(
    kind: Kind,
    subject: Subject,
    recipients: Iterable[User],
    audience: Audience,
    *,
    event: Event | None = None,
    details: dict[str, Any] | None = None,
) -> None:
    """Write a notice for each recipient. Call it in the transaction of the change that it reports.

    The right of the audience is checked again when the mail is sent. With an event, a repetition writes nothing.
    """
    subject_type, subject_id = subject
    rows = [
        Notice(
            recipient=recipient,
            kind=kind,
            audience=audience,
            subject_type=subject_type,
            subject_id=subject_id,
            details=details or {},
            event=event,
        )
        for recipient in recipients
    ]
    Notice.objects.bulk_create(rows, ignore_conflicts=event is not None)


def members(organisation_id: int, first_id: int | None = None, actor_id: int | None = None) -> QuerySet[User]:
    """Return the members who may read what an organisation sent; `first_id` first, without the actor of the change."""
    own = User.objects.filter(
        is_active=True, memberships__organisation=organisation_id, memberships__role__in=ALLOWED[Action.READ]
    )
    order = Case(When(pk=first_id, then=Value(0)), default=Value(1))
    return _without(own, actor_id).order_by(order, "pk")


def reviewers(organisation_id: int | None = None, actor_id: int | None = None) -> QuerySet[User]:
    """Return the reviewers, without the actor and without members of the organisation, who do not review for it."""
    others = _without(User.objects.filter(is_active=True, is_reviewer=True), actor_id)
    if organisation_id is not None:
        others = others.exclude(memberships__organisation=organisation_id)
    return others.order_by("pk")


def operators(actor_id: int | None = None) -> QuerySet[User]:
    """Return the operators without the actor of the change."""
    return _without(User.objects.filter(is_active=True, is_operator=True), actor_id).order_by("pk")


def _without(users: QuerySet[User], actor_id: int | None) -> QuerySet[User]:
    return users if actor_id is None else users.exclude(pk=actor_id)
