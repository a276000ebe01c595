"""Kinds of notices, and who must act next. Sentences are in `sentences`; docs/reference/notices.md lists the kinds."""

from django.db.models import TextChoices


class Audience(TextChoices):
    """The right by which a person receives a notice. It is checked again when the mail is sent."""

    MEMBERS = "members", "members of the organisation"
    REVIEWERS = "reviewers", "reviewers"
    OPERATORS = "operators", "operators"
    FILER = "filer", "the person who filed an objection"


class Kind(TextChoices):
    """What happened, or what is waited for, with a label for subject lines."""

    RECEIVED = "received", "received"
    READING_FAILED = "reading-failed", "could not be read"
    READ = "read", "read"
    AWAITING_IDENTITY = "awaiting-identity", "awaiting identity"
    IN_REVIEW = "in-review", "in review"
    QUESTION = "question", "question of a reviewer"
    ANSWERED = "answered", "question answered"
    DECLINED = "declined", "declined"
    EMBARGOED = "embargoed", "under embargo"
    EMBARGO_CHANGED = "embargo-changed", "embargo changed"
    PUBLISHED = "published", "published"
    WITHDRAWN = "withdrawn", "withdrawn"
    SEQUESTERED = "sequestered", "withheld"
    RELEASED = "released", "no longer withheld"
    TAKEDOWN_WAITS = "takedown-waits", "waits for confirmation"
    TAKEDOWN_NEAR = "takedown-deadline-near", "deadline is near"
    FILE_HIDDEN = "file-hidden", "file hidden"
    FILE_SHOWN = "file-shown", "file no longer hidden"
    SUPERSEDED = "superseded", "superseded"
    REINSTATED = "reinstated", "public again"
    RECALLED = "recalled", "returned to review"
    DEADLINE_NEAR = "deadline-near", "deadline is near"
    DEADLINE_PASSED = "deadline-passed", "deadline has passed"
    ANNOTATED = "annotated", "annotated"
    ANNOTATION_REPLIED = "annotation-replied", "annotation replied to"
    OBJECTION_RECEIVED = "objection-received", "received"
    OBJECTION_REFUSED = "objection-refused", "refused"
    OBJECTION_WITHDRAWN = "objection-withdrawn", "withdrawn"
    OBJECTION_ADMITTED = "objection-admitted", "admitted"
    OBJECTION_REPLIED = "objection-replied", "replied to"
    OBJECTION_WAITS = "objection-waits", "waits for a decision"
    OBJECTION_NEAR = "objection-deadline-near", "deadline is near"
    OBJECTION_OVERDUE = "objection-overdue", "limit has passed"
    OBJECTION_UPHELD = "objection-upheld", "upheld"
    OBJECTION_REJECTED = "objection-rejected", "rejected"
    SCRUB_FAULTS = "scrub-faults", "stored files are damaged"
    ORGANISATION_CONFIRMED = "organisation-confirmed", "confirmed"
    ORGANISATION_WAITS = "organisation-waits", "waits for confirmation"
    MEMBER_JOINED = "member-joined", "new member"
    MEMBER_LEFT = "member-left", "member left"
    TOKENS_TO_REPLACE = "tokens-to-replace", "machine tokens to replace"
    INVITATION_DECLINED = "invitation-declined", "invitation declined"
    OWNERSHIP_TRANSFERRED = "ownership-transferred", "ownership transferred"


# Who must act after a notice of this kind. Deadlines and objections state it in their details.
NEXT_ACTOR = {
    Kind.READING_FAILED: Audience.MEMBERS,
    Kind.AWAITING_IDENTITY: Audience.REVIEWERS,
    Kind.IN_REVIEW: Audience.REVIEWERS,
    Kind.RECALLED: Audience.REVIEWERS,
    Kind.QUESTION: Audience.MEMBERS,
    Kind.ANSWERED: Audience.REVIEWERS,
    Kind.TAKEDOWN_WAITS: Audience.OPERATORS,
    Kind.TAKEDOWN_NEAR: Audience.OPERATORS,
    Kind.OBJECTION_RECEIVED: Audience.REVIEWERS,
    Kind.OBJECTION_ADMITTED: Audience.MEMBERS,
    Kind.OBJECTION_WAITS: Audience.REVIEWERS,
    Kind.OBJECTION_NEAR: Audience.REVIEWERS,
    Kind.OBJECTION_OVERDUE: Audience.REVIEWERS,
    Kind.OBJECTION_UPHELD: Audience.REVIEWERS,
    Kind.TOKENS_TO_REPLACE: Audience.MEMBERS,
    Kind.ORGANISATION_WAITS: Audience.OPERATORS,
    Kind.SCRUB_FAULTS: Audience.OPERATORS,
}
