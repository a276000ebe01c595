"""Subjects of notices: their title and link, and who may read about them when a mail is sent."""

from dataclasses import dataclass

from django.urls import reverse

from results.access.withholding import is_sequestered
from results.lifecycle.objections import partial_organisations, replying_organisation
from results.models import Objection, Organisation, Submission
from webapp.accounts.models import User
from webapp.accounts.permissions import Action, may
from webapp.notices.kinds import Audience
from webapp.notices.plain_text import one_line

# The title and the page of subjects about which only operators are notified.
FOR_OPERATORS = {
    "hidden-file": ("Hidden file of submission {}", "hidden-file-list"),
    "takedown": ("Takedown of run {}", "takedown-list"),
    "scrub": ("Stored files", "stored-files"),
}


@dataclass(frozen=True)
class SubjectFacts:
    """What a mail states about a subject."""

    title: str
    organisation: Organisation | None
    path: str
    submission: Submission | None = None
    filer_id: int | None = None
    barred: frozenset[int] = frozenset()  # organisations whose members are not notified as reviewers


def load_subject(subject_type: str, subject_id: str, audience: Audience) -> SubjectFacts | None:
    """Return the facts about a subject; None if it does not exist or its type is unknown."""
    if subject_type == "submission":
        submissions = Submission.objects.select_related("organisation", "product", "log")
        submission = submissions.filter(public_id=subject_id).first()
        return _of_submission(submission) if submission else None
    if subject_type == "organisation":
        organisation = Organisation.objects.filter(slug=subject_id).first()
        return _of_organisation(organisation, audience) if organisation else None
    if subject_type in FOR_OPERATORS:
        title, page = FOR_OPERATORS[subject_type]
        return SubjectFacts(title.format(subject_id), None, reverse(page))
    if subject_type == "objection":
        return _of_objection(subject_id, audience)
    return None


def may_read(user: User, audience: Audience, facts: SubjectFacts) -> bool:
    """Return whether a user still has the right by which they are notified."""
    if audience == Audience.REVIEWERS:
        is_barred = bool(facts.barred) and user.memberships.filter(organisation__in=facts.barred).exists()
        return may(user, Action.REVIEW) and not is_barred
    if audience == Audience.OPERATORS:
        return may(user, Action.OPERATE)
    if audience == Audience.FILER:
        return user.is_active and facts.filer_id == user.pk
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


def _of_objection(public_id: str, audience: Audience) -> SubjectFacts | None:
    """Return the facts about an objection; None while a takedown withholds it, and for members before its admission."""
    objection = Objection.objects.select_related("run__submission__organisation").filter(public_id=public_id).first()
    if objection is None or is_sequestered(objection.run):
        return None
    path = reverse("objection", args=[public_id])
    if audience == Audience.REVIEWERS:
        path = reverse("objection-review", args=[public_id])
    elif audience == Audience.MEMBERS:
        if not objection.is_admitted or objection.run.submission is None:
            return None
        path = reverse("submission-detail", args=[objection.run.submission.public_id]) + "#objections"
    title = f"Objection {public_id} to run {objection.run.public_id}"
    barred = partial_organisations(objection)
    organisation = replying_organisation(objection)
    return SubjectFacts(title, organisation, path, filer_id=objection.filed_by_id, barred=barred)
