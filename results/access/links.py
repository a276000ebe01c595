"""The secret link of a submission: its key opens the submission and its runs for people without an account.

The database holds only the SHA-256 of the key, so that a copy of the database opens nothing. A submission has at most
one link. A new link replaces the old one, and each link expires.
"""

from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.utils import timezone
from django.utils.crypto import constant_time_compare

from results.history import LINK_RENEWED, LINK_REVOKED, record_event
from results.models import Submission
from results.models.ids import hash_link_key, new_link_key


def renew_link(submission: Submission, actor: AbstractBaseUser | None) -> str:
    """Give a submission a new link and return its key, which is not stored. The link before it ends."""
    key, expires_at = new_link_key(), timezone.now() + timedelta(days=settings.SECRET_LINK_DAYS)
    with transaction.atomic():
        _store(submission, hash_link_key(key), expires_at)
        details = {"expires_at": expires_at.isoformat(timespec="seconds")}
        record_event(actor, LINK_RENEWED, ("submission", submission.public_id), details=details)
    return key


def revoke_link(submission: Submission, actor: AbstractBaseUser | None) -> bool:
    """End the link of a submission; return False if it has none."""
    with transaction.atomic():
        locked = Submission.objects.select_for_update().get(pk=submission.pk)
        if not locked.link_digest:
            return False
        _store(submission, "", None)
        record_event(actor, LINK_REVOKED, ("submission", submission.public_id))
    return True


def is_opened_by(submission: Submission, key: str) -> bool:
    """Return whether a key opens the submission: it is that of its link, and the link has not expired."""
    is_right = constant_time_compare(hash_link_key(key), submission.link_digest)
    return is_right and has_link(submission)


def has_link(submission: Submission) -> bool:
    """Return whether the submission has a link that has not expired."""
    expires_at = submission.link_expires_at
    return bool(submission.link_digest) and expires_at is not None and timezone.now() < expires_at


def _store(submission: Submission, digest: str, expires_at: datetime | None) -> None:
    submission.link_digest, submission.link_expires_at = digest, expires_at
    submission.save(update_fields=["link_digest", "link_expires_at"])
