"""The page that a number is followed to: the stored log at a line."""

from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render

from results.access.intervals import is_withheld
from results.access.mirrors import no_log_sentence
from webapp.register.http.access import is_public
from webapp.register.http.responses import public_page
from webapp.register.runs import page as runs_page
from webapp.register.runs.evidence.lines import log_view
from webapp.register.runs.views import find_run, guarded, link_query, withheld

LARGEST_LINE = 10**12


@public_page
def lines(request: HttpRequest, public_id: str, first: int, last: int | None = None) -> HttpResponseBase:
    """Show the stored log at a line, or from one to another."""
    run = find_run(request, public_id)
    evidence = runs_page.evidence_of(run)
    last = first if last is None else last
    if evidence is None:
        raise Http404(no_log_sentence(run))
    if is_withheld(run):
        return withheld(request, run, evidence.filename)
    if not 1 <= first <= last <= LARGEST_LINE:
        raise Http404(f"{first} to {last}: expected lines from 1 upwards, the first of them first.")
    view = log_view(run, evidence, first, last)
    shown = {"view": view, "first": first, "last": last, "evidence": evidence}
    page = {"run": run, "title": runs_page.title_of(run), "is_public": is_public(run), "section": "drives"}
    context = page | shown | {"query": link_query(request, run)}
    return guarded(
        run, render(request, "register/runs/log_lines.html", context, status=404 if view.is_missing else 200)
    )
