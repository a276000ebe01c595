"""Subjects of notices: their title and link, and who may read about them when a mail is sent."""

from dataclasses import dataclass

from django.urls import reverse

from results.models import Organisation, Submission
from webapp.accounts.models import User
from webapp.accounts.permissions import Action, may
from webapp.notices.kinds import Audience
from webapp.notices.plain_text import one_line


@dataclass(frozen=True)
class SubjectFacts:
    """What a mail states about a subject."""

    title: str
    organisation: Organisation | None
    path: str
    submission: Submission | None = None


def load_subject(subject_type: str, subject_id: str, audience: Audience) -> SubjectFacts | None:
    """Return the facts about a subject; None if it does not exist or its type is unknown."""
    if subject_type == "submission":
        submissions = Submission.objects.select_related("organisation", "product", "log")
        submission = submissions.filter(public_id=subject_id).first()
        return _of_submission(submission) if submission else None
    if subject_type == "organisation":
        organisation = Organisation.objects.filter(slug=subject_id).first()
        return _of_organisation(organisation, audience) if organisation else None
    if subject_type == "hidden-file":
        return SubjectFacts(f"Hidden file of submission {subject_id}", None, reverse("hidden-file-list"))
    if subject_type == "takedown":
        return SubjectFacts(f"Takedown of run {subject_id}", None, reverse("takedown-list"))
    return None


def may_read(user: User, audience: Audience, facts: SubjectFacts) -> bool:
    """Return whether a user still has the right by which they are notified."""
    if audience == Audience.REVIEWERS:
        return may(user, Action.REVIEW)
    if audience == Audience.OPERATORS:
        return may(user, Action.OPERATE)
    if facts.organisation is None:
        return False
    return user.is_active and user.memberships.filter(organisation=facts.organisation).exists()


def _of_submission(submission: Submission) -> SubjectFacts:
    name = str(submission.product) if submission.product else f"{submission.vendor} {submission.model}"
    title = f"Submission {submission.public_id}"
    if name.strip():
        title += f", {one_line(name)}"
    path = reverse("submission-detail", args=[submission.public_id])
    return SubjectFacts(title, submission.organisation, path, submission)


def _of_organisation(organisation: Organisation, audience: Audience) -> SubjectFacts:
    page = "organisation-confirmations" if audience == Audience.OPERATORS else "organisation-list"
    return SubjectFacts(f"Organisation {one_line(organisation.name)}", organisation, reverse(page))
