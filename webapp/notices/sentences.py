"""Sentences of notices, made from their kinds and details."""

from collections.abc import Sequence
from datetime import datetime

from django.conf import settings
from django.urls import reverse

from results.access.withholding import visible_name, visible_verdict
from results.models import Run, Submission
from results.rules.plural import listed
from webapp.accounts.models import User
from webapp.notices.kinds import NEXT_ACTOR, Audience, Kind
from webapp.notices.models import Notice
from webapp.notices.plain_text import one_line, quote
from webapp.notices.subjects import SubjectFacts
from webapp.templatetags.units import moment

RUNS_SHOWN = 10
VERDICT_CHARS = 500
SENTENCES = {
    Kind.RECEIVED: "The register received the log {log}.",
    Kind.READING_FAILED: "The register could not read the log {log} (error {error}).",
    Kind.READ: "The register read the log {log}:",
    Kind.AWAITING_IDENTITY: "The submission has no product yet. A reviewer must name it.",
    Kind.IN_REVIEW: "The submission waits for review.",
    Kind.QUESTION: "A reviewer has a question:",
    Kind.ANSWERED: "A member of the organisation answered the question of the reviewer.",
    Kind.DECLINED: "A reviewer declined the submission:",
    Kind.EMBARGOED: "Reviewed: {runs}; public when the embargo ends{until}.",
    Kind.EMBARGO_CHANGED: "The embargo of the submission was changed: {embargo}.",
    Kind.PUBLISHED: "Public now: {runs}.",
    Kind.WITHDRAWN: "Withdrawn: {runs}.",
    Kind.SEQUESTERED: "Withheld for legal reasons: {runs}.",
    Kind.RELEASED: "No longer withheld: {runs}.",
    Kind.TAKEDOWN_WAITS: "An operator withheld the result. Another operator has to confirm it within 72 hours.",
    Kind.TAKEDOWN_NEAR: "The request to withhold the result is not confirmed yet, and lapses soon.",
    Kind.FILE_HIDDEN: "A file of the submission was hidden on request of its organisation. Only operators see it:",
    Kind.FILE_SHOWN: "An operator ended the hiding of a file of the submission:",
    Kind.SUPERSEDED: "Superseded by a better run: {runs}.",
    Kind.REINSTATED: "Public again: {runs}.",
    Kind.RECALLED: "Returned to review before publication: {runs}.",
    Kind.DEADLINE_NEAR: "The deadline of the submission is near.",
    Kind.DEADLINE_PASSED: "The deadline of the submission has passed.",
    Kind.ANNOTATED: "A reviewer annotated the result. Your organisation can reply in public, once:",
    Kind.ANNOTATION_REPLIED: "The organisation replied to an annotation of its result:",
    Kind.OBJECTION_RECEIVED: "A user objects to {runs}. The objection is not public yet.",
    Kind.OBJECTION_REFUSED: "A reviewer did not admit the objection to {runs}. Its page states the reason.",
    Kind.OBJECTION_WITHDRAWN: "The user withdrew the objection to {runs} before it was admitted.",
    Kind.OBJECTION_ADMITTED: "A reviewer admitted the objection to {runs}. It is public now.",
    Kind.OBJECTION_REPLIED: "The organisation that submitted {runs} replied to the objection.",
    Kind.OBJECTION_WAITS: "The objection to {runs} waits for the decision of a reviewer.",
    Kind.OBJECTION_NEAR: "The deadline of the objection to {runs} is near.",
    Kind.OBJECTION_OVERDUE: "A limit of the objection to {runs} has passed. Its page states what follows.",
    Kind.OBJECTION_UPHELD: "A reviewer upheld the objection to {runs}:",
    Kind.OBJECTION_REJECTED: "A reviewer rejected the objection to {runs}:",
    Kind.SCRUB_FAULTS: "The scrub found new faults of stored files: {faults}.",
    Kind.ORGANISATION_CONFIRMED: "An operator confirmed the organisation. Its results can be published now.",
    Kind.ORGANISATION_WAITS: "A user created the organisation. Its results cannot be published before it is confirmed.",
    Kind.MEMBER_JOINED: "{member} accepted an invitation and is now a member.",
    Kind.MEMBER_LEFT: "{member} left the organisation.",
    Kind.TOKENS_TO_REPLACE: "{member} is no longer a member, and created: {credentials}.",
    Kind.INVITATION_DECLINED: "A person declined the invitation in the role {role}. You can invite the address again.",
    Kind.OWNERSHIP_TRANSFERRED: "{actor} transferred the ownership to {member}.",
}
# What the next actor does.
STEPS = {
    Kind.READING_FAILED: "Correct the log and submit it again. The page of the submission states the error.",
    Kind.AWAITING_IDENTITY: "Name the product on the page of the submission.",
    Kind.IN_REVIEW: "Review the submission.",
    Kind.RECALLED: "Review the submission again.",
    Kind.QUESTION: "Answer the question on the page of the submission.",
    Kind.ANSWERED: "Read the answer, and review the submission.",
    Kind.TAKEDOWN_WAITS: "Confirm the takedown, or end it. Without a confirmation it lapses.",
    Kind.TAKEDOWN_NEAR: "Confirm the takedown, or end it. Without a confirmation it lapses, and the result returns.",
    Kind.OBJECTION_RECEIVED: "Admit or refuse the objection.",
    Kind.OBJECTION_ADMITTED: "Reply to the objection in public, on the page of the submission.",
    Kind.OBJECTION_WAITS: "Uphold or reject the objection.",
    Kind.OBJECTION_NEAR: "Open the page of the objection. It states what is to be done.",
    Kind.OBJECTION_OVERDUE: "Open the page of the objection. It states what is to be done.",
    Kind.OBJECTION_UPHELD: "Take the step that the outcome names, on the review page of the run.",
    Kind.TOKENS_TO_REPLACE: (
        "The person may still know the tokens: create new ones on the page of the machine tokens, then revoke these. "
        "Check the trusted publishers and the addresses of webhooks on their pages."
    ),
    Kind.SCRUB_FAULTS: "Restore the files from a backup. The page of the stored files names them.",
    Kind.ORGANISATION_WAITS: "Check that its owners belong to the organisation of this name, and confirm it.",
}
ACTORS = {
    Audience.MEMBERS: "a member of the organisation",
    Audience.REVIEWERS: "a reviewer",
    Audience.OPERATORS: "an operator",
    Audience.FILER: "the person who filed the objection",
}
PUBLIC_KINDS = {Kind.PUBLISHED, Kind.REINSTATED, Kind.WITHDRAWN, Kind.SUPERSEDED, Kind.RELEASED}


def next_actor(notice: Notice) -> Audience | None:
    """Return who must act after a notice; None if no person must."""
    stated = notice.details.get("acts")
    return Audience(stated) if stated in Audience.values else NEXT_ACTOR.get(Kind(notice.kind))


def waits_for_recipient(notice: Notice) -> bool:
    """Return whether the recipient of a notice must act."""
    return next_actor(notice) == notice.audience


def lines_of(kind: Kind, notices: Sequence[Notice], facts: SubjectFacts) -> list[str]:
    """Return the lines about all notices of a kind in one mail."""
    submission = facts.submission
    run_ids = list(dict.fromkeys(notice.details["run"] for notice in notices if "run" in notice.details))
    values = {
        "log": one_line(visible_name(submission.log) or "(hidden)") if submission else "",
        "error": one_line(str(notices[-1].details.get("error", ""))),
        "runs": _listed(run_ids),
        "until": _until(submission),
        "embargo": _embargo(submission),
        "member": _listed_names(notices, "member"),
        "role": str(notices[-1].details.get("role", "")),
        "actor": _listed_names(notices, "actor"),
        "faults": sum(notice.details.get("faults", 0) for notice in notices),
        "credentials": one_line(", ".join(_credentials(notices))),
    }
    lines = [SENTENCES[kind].format(**values)]
    if kind == Kind.READ and submission:
        lines += _verdict_lines(submission)
    if kind == Kind.QUESTION and submission:
        lines += _question_lines(submission, notices)
    if kind in PUBLIC_KINDS:
        lines += [f"  {settings.PUBLIC_URL}{reverse('run-detail', args=[run])}" for run in run_ids[:RUNS_SHOWN]]
    reasons = dict.fromkeys(notice.details.get("reason", "") for notice in notices)
    return lines + [f"  {line}" for reason in reasons if reason for line in quote(reason)]


def step_lines(notice: Notice) -> list[str]:
    """Return who must act after the newest notice about a subject, and by when."""
    actor = next_actor(notice)
    if actor is None:
        return ["You need to do nothing."]
    if actor != notice.audience:
        lines = [f"Next, {ACTORS[actor]} must act. You need to do nothing."]
    else:
        lines = [f"You must act. {STEPS.get(Kind(notice.kind), 'The page of the submission states what is missing.')}"]
    if deadline := notice.details.get("deadline"):
        lines.append(f"Deadline: {moment(datetime.fromisoformat(deadline))}")
    return lines


def _credentials(notices: Sequence[Notice]) -> list[str]:
    """Return the machine tokens, trusted publishers and webhooks that a former member created."""
    kinds = {"tokens": "machine token", "publishers": "trusted publisher", "webhooks": "webhook"}
    return [
        f"{kind} {name}" for key, kind in kinds.items() for notice in notices for name in notice.details.get(key, [])
    ]


def _question_lines(submission: Submission, notices: Sequence[Notice]) -> list[str]:
    """Return the text of the questions. Members read it on the page too, and a mail reaches only current members."""
    numbers = [notice.details["question"] for notice in notices if "question" in notice.details]
    texts = submission.questions.filter(pk__in=numbers).order_by("pk").values_list("text", flat=True)
    return [f"  {line}" for text in texts for line in quote(text)]


def _verdict_lines(submission: Submission) -> list[str]:
    """Return the current verdict of each run, as the page of the submission shows it to the same readers."""
    runs = list(submission.runs.not_sequestered().order_by("pk").prefetch_related("verdicts")[: RUNS_SHOWN + 1])
    lines = [f"  {run.public_id}: {_verdict_of(run)}" for run in runs[:RUNS_SHOWN]]
    return lines + (["  and more"] if len(runs) > RUNS_SHOWN else [])


def _verdict_of(run: Run) -> str:
    verdict = run.verdicts.first()
    return one_line(visible_verdict(run, verdict).sentence, VERDICT_CHARS) if verdict else "no verdict"


def _listed(run_ids: list[str]) -> str:
    if len(run_ids) == 1:
        return f"run {run_ids[0]}"
    shown = ", ".join(run_ids[:RUNS_SHOWN])
    return f"{len(run_ids)} runs: {shown}" + (", ..." if len(run_ids) > RUNS_SHOWN else "")


def _until(submission: Submission | None) -> str:
    return f", on {moment(submission.embargo_until)}" if submission and submission.embargo_until else ""


def _embargo(submission: Submission | None) -> str:
    until = submission.embargo_until if submission else None
    return f"no run is public before {moment(until)}" if until else "it has none now"


def _listed_names(notices: Sequence[Notice], detail: str) -> str:
    """Return the names of the persons whose numbers the notices have, as they are when the mail is sent."""
    numbers = dict.fromkeys(notice.details.get(detail) for notice in notices)
    users = User.objects.in_bulk([number for number in numbers if number is not None])
    return listed([one_line(users[number].shown_name) for number in numbers if number in users])
