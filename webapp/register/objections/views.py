"""The public list of objections, the page of one, and its attachments."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.contrib.auth.views import redirect_to_login
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render

from results.access.mirrored_runs import dump_origin
from results.access.withholding import is_sequestered
from results.lifecycle.objections import replying_organisation
from results.models import Objection, ObjectionState, Run
from results.models.objection import BEFORE_ADMISSION
from webapp.register.http.access import require_objection_access
from webapp.register.http.evidence_files import send_attachment
from webapp.register.http.query_params import given_of
from webapp.register.http.responses import mark_private, public_page
from webapp.register.objections.page import STATE_WORDS, filer_words, line_of
from webapp.register.tables.sentences import product_name

PAGE_ROWS = 100
P = ParamSpec("P")


@public_page
def objection_list(request: HttpRequest) -> HttpResponseBase:
    """List the admitted objections, newest first, with the counts of all states and of the reasons of refusals."""
    given_of(request.GET, ("page",))
    admitted = Objection.objects.admitted().select_related("run__product", "organisation")
    page = Paginator(admitted.order_by("-admitted_at", "-pk"), PAGE_ROWS).get_page(request.GET.get("page"))
    context = {
        "section": "about",
        "page": page,
        "rows": [line_of(objection) for objection in page.object_list],
        "states": _counts("state", {state.value: words for state, words in STATE_WORDS.items()}),
        "refusals": _counts("refusal", dict(Objection.Refusal.choices)),
    }
    return render(request, "register/objections/list.html", context)


def _counts(column: str, words: dict[str, str]) -> list[tuple[str, int]]:
    """Return how many objections have each value of a column, in the order of `words`, also those with none."""
    visible = Objection.objects.filter(run__in=Run.objects.public()).order_by()
    found = dict(visible.values_list(column).annotate(all=Count("pk")))
    return [(label, found.get(value, 0)) for value, label in words.items()]


View = Callable[Concatenate[HttpRequest, Objection, P], HttpResponseBase]


def of_objection(view: View[P]) -> Callable[..., HttpResponseBase]:
    """Find the objection of an address for a view. A visitor is led to the sign-in unless everyone may read it.

    The links in mails to filers and reviewers lead here. The response is the same for an id that does not exist.
    """

    @wraps(view)
    def answer(request: HttpRequest, public_id: str, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        related = ("run__product", "run__submission__organisation", "organisation")
        row = Objection.objects.select_related(*related).filter(public_id=public_id).first()
        try:
            found = require_objection_access(request, public_id, row)
        except Http404:
            if request.user.is_authenticated:
                raise
            return mark_private(redirect_to_login(request.get_full_path()))
        response = view(request, found, *args, **kwargs)
        return mark_private(response) if _is_private(found) else response

    return public_page(answer)


@of_objection
def objection(request: HttpRequest, found: Objection) -> HttpResponseBase:
    """Show an objection with its state, reply, outcome and attachments. Before its admission, the page is private."""
    given_of(request.GET, ())
    return render(request, "register/objections/detail.html", _page(found, is_private=_is_private(found)))


def _page(found: Objection, *, is_private: bool) -> dict[str, Any]:
    """Return what the page shows. What depends on the client is only on the private page, for which see its template.

    A public page is the same bytes for everyone.
    """
    run = found.run
    return {
        "section": "about",
        "objection": found,
        "line": line_of(found),
        "run": run,
        "run_title": product_name(run.product) if run.product else run.public_id,
        "filer": filer_words(found),
        "files": list(found.files.all()),
        "submitter": replying_organisation(found),
        "mirror": dump_origin() if found.is_mirrored else None,
        "mirror_address": dump_origin().objection_address(found) if found.is_mirrored else "",
        "is_private": is_private,
        "is_before_admission": found.state in BEFORE_ADMISSION,
        "is_refused": found.state == ObjectionState.REFUSED,
    }


@of_objection
def objection_file(request: HttpRequest, found: Objection, sha256: str) -> HttpResponseBase:
    """Send an attachment as it was received, by its hash."""
    file = found.files.filter(sha256=sha256).first()
    if file is None:
        raise Http404(f"Objection {found.public_id} has no file with the hash {sha256}.")
    return send_attachment(request, file)


def _is_private(found: Objection) -> bool:
    return not found.is_admitted or is_sequestered(found.run)
