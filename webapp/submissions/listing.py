"""Lists of submissions: their verdicts, and the search and filters above them."""

from collections import Counter
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.core.paginator import Page, Paginator
from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.http import QueryDict

from results.lifecycle.review_claims import claimed_by, free_for
from results.lifecycle.review_queue import Missing
from results.lifecycle.submission_states import SubmissionState, in_states
from results.models import Run, Submission, Verdict
from webapp.accounts.models import User

NONE = "none"  # the filter for submissions without a verdict
VERDICTS = [("", "any"), *Verdict.Outcome.choices, (NONE, "no verdict")]
SEARCHED = ("public_id", "vendor", "model", "part_number", "organisation__name")
WORDS_AT_MOST = 8
PAGE_ROWS = 50
Submissions = QuerySet[Any]  # of Submission, with the columns of with_state() or without them


class ListForm(forms.Form):
    """Search and filters of a list. An unknown value of a filter is ignored."""

    q = forms.CharField(label="Search", required=False, max_length=100)
    verdict = forms.ChoiceField(choices=VERDICTS, required=False)

    def chosen(self, name: str) -> str:
        """Return the valid value of a field; "" for none."""
        self.is_valid()
        return str(self.cleaned_data.get(name, ""))

    def query(self) -> str:
        """Return the chosen values for the links of a page, each with a `&` before it."""
        values = {name: self.chosen(name) for name in self.fields}
        return "".join(f"&{urlencode({name: value})}" for name, value in values.items() if value)

    def filtered(self, submissions: Submissions) -> Submissions:
        """Return the submissions with every typed word, and with the chosen verdict."""
        for word in self.chosen("q").split()[:WORDS_AT_MOST]:
            anywhere = Q()
            for column in SEARCHED:
                anywhere |= Q(**{f"{column}__icontains": word})
            anywhere |= Q(log__filename__icontains=word, log__hidden=False)
            submissions = submissions.filter(anywhere)
        if verdict := self.chosen("verdict"):
            runs = with_newest_outcome(Run.objects.filter(submission=OuterRef("pk")))
            is_any = Exists(runs.exclude(Q(newest_outcome=None)))
            submissions = submissions.filter(
                ~is_any if verdict == NONE else Exists(runs.filter(newest_outcome=verdict))
            )
        return submissions


class OwnListForm(ListForm):
    """The list of one's own submissions."""

    state = forms.ChoiceField(choices=[("", "any"), *SubmissionState.choices], required=False)
    field_order = ["q", "state", "verdict"]

    def filtered(self, submissions: Submissions) -> Submissions:
        state = self.chosen("state")
        found = super().filtered(submissions)
        return in_states(found, {SubmissionState(state)}) if state else found


class QueueForm(ListForm):
    """The review queue."""

    CLAIMS = (("", "all"), ("free", "free for me"), ("mine", "claimed by me"))
    missing = forms.ChoiceField(choices=[("", "anything"), *Missing.choices], required=False)
    claim = forms.ChoiceField(label="Claims", choices=CLAIMS, required=False)
    field_order = ["q", "verdict", "missing", "claim"]

    def __init__(self, reviewer: User, data: QueryDict) -> None:
        super().__init__(data)
        self.reviewer = reviewer

    def filtered(self, submissions: Submissions) -> Submissions:
        found = super().filtered(submissions)
        if missing := self.chosen("missing"):
            found = found.filter(Q(missing=missing))
        if claim := self.chosen("claim"):
            found = (claimed_by if claim == "mine" else free_for)(found, self.reviewer)
        return found


def page_of_keys(found: Submissions, number: str | None) -> Page[int]:
    """Return a page of the keys of submissions. What a page shows of them is read for these alone."""
    page = Paginator(found.values_list("pk", flat=True), PAGE_ROWS).get_page(number)
    page.object_list = list(page.object_list)
    return page


def with_newest_outcome(runs: QuerySet[Run]) -> QuerySet[Any]:
    """Add the column `newest_outcome`: the outcome of the newest verdict of each run."""
    verdicts = Verdict.objects.filter(run=OuterRef("pk")).order_by("-created_at", "-id")
    return runs.annotate(newest_outcome=Subquery(verdicts.values("outcome")[:1]))


def listed_rows(submissions: Iterable[Submission]) -> list[dict[str, Any]]:
    """Return the submissions of a page with their verdicts in words."""
    shown = list(submissions)
    verdicts = verdict_words(shown)
    return [{"submission": each, "verdict": verdicts.get(each.pk, "")} for each in shown]


def verdict_words(submissions: Iterable[Submission]) -> dict[int, str]:
    """Return the verdicts of the runs of each submission, such as "passes" or "fails (1), passes (2)"."""
    runs = with_newest_outcome(Run.objects.filter(submission__in=list(submissions)))
    counts: dict[int, Counter[str]] = {}
    for submission_id, outcome in runs.exclude(Q(newest_outcome=None)).values_list("submission_id", "newest_outcome"):
        counts.setdefault(submission_id, Counter())[outcome] += 1
    return {pk: _words(outcomes) for pk, outcomes in counts.items()}


def _words(outcomes: Counter[str]) -> str:
    labels = [(Verdict.Outcome(outcome).label, times) for outcome, times in sorted(outcomes.items())]
    if len(labels) == 1 and labels[0][1] == 1:
        return labels[0][0]
    return ", ".join(f"{label} ({times})" for label, times in labels)
