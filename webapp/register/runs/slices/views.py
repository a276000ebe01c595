"""The page between a share and the log's lines: the subtraction that the share is made of."""

from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render

from results.access.intervals import is_withheld
from webapp.register.http.access import is_public
from webapp.register.http.responses import public_page
from webapp.register.runs import page as runs_page
from webapp.register.runs.evidence.lines import has_lines
from webapp.register.runs.slices.counts import counts_of
from webapp.register.runs.views import find_run, guarded, link_query, withheld

LARGEST_NUMBER = 10**9  # of a slice: a column of the database holds no more


@public_page
def slice_counts(request: HttpRequest, public_id: str, number: int) -> HttpResponseBase:
    """Show how one slice was counted."""
    run = find_run(request, public_id)
    if is_withheld(run):
        return withheld(request, run, f"slice {number}")
    counted = counts_of(run, run.verdicts.first(), number) if 1 <= number <= LARGEST_NUMBER else None
    if counted is None:
        raise Http404(f"Run {public_id} has no slice {number}.")
    context = {
        "section": "drives",
        "run": run,
        "title": runs_page.title_of(run),
        "is_public": is_public(run),
        "counted": counted,
        "has_lines": has_lines(run),
        "query": link_query(request, run),
    }
    return guarded(run, render(request, "register/runs/slice.html", context))
