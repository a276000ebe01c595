"""The export of a user's own data: everything that docs/privacy.md lists, except secrets and their hashes."""

from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.db.models import Exists, OuterRef, Q

from results.models import (
    Annotation,
    Approval,
    CertificateRequest,
    Draft,
    Event,
    HiddenFile,
    ListPrice,
    Objection,
    ObjectionFile,
    ProductAlias,
    ProductMove,
    Question,
    ReviewClaim,
    Submission,
    Takedown,
)
from runners.models import Agent, Campaign, CampaignEntry, Dispatch, OrderTemplate, Step
from webapp.accounts.audit.sentences import own_address
from webapp.accounts.models import AccountEvent, APIToken, FormerMembership, Invitation, Membership, User

FORMAT = "drivecert.own-data/1"
CAMPAIGN_ENTRY_COLUMNS = ("campaign__public_id", "at", "kind", "reason")
FACT_COLUMNS = (
    "vendor", "model", "part_number", "capacity_gb", "firmware", "category", "over_provisioning_pct", "region",
    "zone", "slice_length_s", "notes", "embargo_until",
)  # fmt: skip
OBJECTION_COLUMNS = (
    "public_id", "run__public_id", "organisation__name", "text", "state", "filed_at", "refusal", "refusal_note",
)  # fmt: skip
TOKEN_COLUMNS = (
    "kind", "name", "machine", "organisation__name", "scopes", "created_at", "expires_at", "revoked_at", "last_used_at",
)  # fmt: skip
INVITATION_COLUMNS = (
    "organisation__name", "email", "role", "created_at", "expires_at", "accepted_at", "revoked_at",
    "declined_at",
)  # fmt: skip


def own_data(user: User) -> dict[str, Any]:
    """Return the data of a user, ready for JSON."""
    return {
        "format": FORMAT,
        "account": {
            "username": user.username,
            "email": user.email,
            "first_name": user.first_name,
            "last_name": user.last_name,
            "date_joined": user.date_joined,
            "last_login": user.last_login,
            "is_reviewer": user.is_reviewer,
            "is_operator": user.is_operator,
        },
        "addresses": _rows(EmailAddress.objects.filter(user=user), "email", "verified", "primary"),
        "second_factors": _rows(Authenticator.objects.filter(user=user), "type", "created_at", "last_used_at"),
        "sessions": _rows(UserSession.objects.filter(user=user), "created_at", "last_seen_at", "ip", "user_agent"),
        "mail_preference": _rows(
            User.objects.filter(pk=user.pk, mail_preference__isnull=False), "mail_preference__frequency"
        ),
        "notices": _rows(user.notices, "kind", "subject_type", "subject_id", "created_at", "state"),
        "memberships": _rows(user.memberships, "organisation__name", "role", "joined_at"),
        "former_memberships": _rows(
            FormerMembership.objects.filter(user=user), "organisation__name", "joined_at", "left_at"
        ),
        "tokens": _rows(user.api_tokens.filter(kind=APIToken.Kind.PERSONAL), *TOKEN_COLUMNS),
        "trusted_publishers": _rows(user.created_publishers, "name", "organisation__name", "created_at", "ended_at"),
        "webhooks": _rows(user.created_webhooks, "public_id", "organisation__name", "created_at", "ended_at"),
        "invitations": _rows(_invitations(user), *INVITATION_COLUMNS),
        "account_events": [_account_event(event, user) for event in _account_events(user)],
        "submissions": _rows(_submissions(user), "public_id", "received_at", *FACT_COLUMNS),
        "drafts": _rows(Draft.objects.filter(created_by=user), "public_id", "created_at", "expires_at"),
        "certificate_requests": _rows(
            CertificateRequest.objects.filter(created_by=user), "public_id", "note", "created_at"
        ),
        "approvals": _rows(Approval.objects.filter(reviewer=user), "run__public_id", "step", "note", "approved_at"),
        "takedowns": _rows(_takedowns(user), "run__public_id", "ground", "note", "requested_at"),
        "hidden_files": _rows(
            HiddenFile.objects.filter(Q(requested_by=user) | Q(ended_by=user)),
            *("submission__public_id", "reason", "note", "requested_at", "ended_at", "end_reason"),
        ),
        "questions": _rows(Question.objects.filter(asked_by=user), "submission__public_id", "text", "asked_at"),
        "answers": _rows(
            Question.objects.filter(answered_by=user), "submission__public_id", "text", "answer", "answered_at"
        ),
        "claims": _rows(ReviewClaim.objects.filter(reviewer=user), "submission__public_id", "claimed_at"),
        "objections": _rows(Objection.objects.filter(filed_by=user), *OBJECTION_COLUMNS),
        "objection_files": _rows(
            ObjectionFile.objects.filter(objection__filed_by=user), "objection__public_id", "filename", "sha256"
        ),
        "objection_decisions": _rows(_objection_decisions(user), "public_id", "refusal", "outcome", "decided_at"),
        "replies": _rows(Objection.objects.filter(replied_by=user), "public_id", "reply", "replied_at"),
        "annotation_replies": _rows(
            Annotation.objects.filter(replied_by=user), "run__public_id", "reply", "replied_at"
        ),
        "list_prices": _rows(ListPrice.objects.filter(entered_by=user), "product__slug", "amount", "currency"),
        "product_aliases": _rows(ProductAlias.objects.filter(decided_by=user), "name_key", "product__slug"),
        "product_moves": _rows(ProductMove.objects.filter(decided_by=user), "kind", "source__slug", "target__slug"),
        "decisions": _rows(Event.objects.filter(actor=user), "at", "kind", "subject_type", "subject_id", "reason"),
        "annotations": _rows(Annotation.objects.filter(author=user), "run__public_id", "text", "created_at"),
        "dispatches": _rows(Dispatch.objects.filter(ordered_by=user), "public_id", "ordered_at"),
        "dispatch_steps": _rows(Step.objects.filter(actor=user.username), "dispatch__public_id", "at", "reason"),
        "campaign_entries": _rows(CampaignEntry.objects.filter(actor=user.username), *CAMPAIGN_ENTRY_COLUMNS),
        "agents": _rows(Agent.objects.filter(created_by=user), "public_id", "host__name", "created_at"),
        "order_templates": _rows(OrderTemplate.objects.filter(created_by=user), "public_id", "name", "created_at"),
        "campaigns": _rows(Campaign.objects.filter(ordered_by=user), "public_id", "ordered_at"),
    }


def _rows(rows: Any, *columns: str) -> list[dict[str, Any]]:
    return list(rows.order_by("pk").values(*columns))


def _takedowns(user: User) -> Any:
    return Takedown.objects.filter(Q(requested_by=user) | Q(confirmed_by=user) | Q(ended_by=user))


def _objection_decisions(user: User) -> Any:
    return Objection.objects.filter(Q(admitted_by=user) | Q(refused_by=user) | Q(decided_by=user))


def _submissions(user: User) -> Any:
    """Return the submissions of the user, without those of a machine token after the user left its organisation."""
    own = {"user": user, "organisation": OuterRef("organisation")}
    former = FormerMembership.objects.filter(**own)
    is_own = Exists(Membership.objects.filter(**own)) | ~Exists(former)
    return Submission.objects.filter(submitted_by=user).filter(
        is_own | Exists(former.filter(left_at__gte=OuterRef("received_at")))
    )


def _invitations(user: User) -> Any:
    """Return the invitations that the user sent, and those to the user."""
    emails = [email.lower() for email in EmailAddress.objects.filter(user=user).values_list("email", flat=True)]
    return Invitation.objects.filter(Q(invited_by=user) | Q(email__in=emails))


def _account_events(user: User) -> Any:
    return AccountEvent.objects.filter(Q(subject=user) | Q(actor=user)).select_related("organisation").order_by("pk")


def _account_event(event: AccountEvent, user: User) -> dict[str, Any]:
    """Return an entry of the audit trail. It names other people by nothing but their part in it."""
    return {
        "at": event.at,
        "kind": event.kind,
        "is_actor": event.actor_id == user.pk,
        "is_subject": event.subject_id == user.pk,
        "organisation": event.organisation.name if event.organisation else None,
        "address": own_address(event, user),
        "details": event.details,
    }
