"""Pages of claims: the list with its filters, one page for each claim, and its share image."""

from functools import cache

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from webapp.register.http.files import rows_response
from webapp.register.http.query_params import FORMAT, read_parameters
from webapp.register.http.responses import public_page
from webapp.register.svg.png import render_png
from webapp.register.ycsb.claims.charts import card_of
from webapp.register.ycsb.claims.entries import ClaimEntry, entry_of
from webapp.register.ycsb.claims.listing import FIELDS, claim_values, claims_page, read_claim_query, selected
from webapp.register.ycsb.claims.page import FIGURE_FIELDS, claim_page, figure_values

CLAIMS_SCHEMA = "drivecert.claims/2"
CLAIM_SCHEMA = "drivecert.claim-figures/1"


@public_page
def claims(request: HttpRequest) -> HttpResponse:
    query = read_claim_query(request.GET)
    if query.form != "html":
        return rows_response(query.form, "claims", CLAIMS_SCHEMA, FIELDS, claim_values(selected(query)))
    return render(request, "register/ycsb/claims.html", {"section": "claims", "page": claims_page(query)})


@require_safe
def short_address(request: HttpRequest) -> HttpResponse:
    """Redirect from the address that readers guess, for good."""
    query = request.GET.urlencode()
    return redirect(f"{reverse('ycsb-claims')}{f'?{query}' if query else ''}", permanent=True)


@public_page
def claim(request: HttpRequest, publication: str, name: str) -> HttpResponse:
    form, entry = read_parameters(request.GET, [FORMAT])["form"], _claim(publication, name)
    if form != "html":
        return rows_response(form, f"claim-{name}", CLAIM_SCHEMA, FIGURE_FIELDS, figure_values(entry))
    context = {"section": "claims", "entry": entry, "claim": entry.row.check.claim, "page": claim_page(entry)}
    return render(request, "register/ycsb/claim.html", context)


@public_page
def picture(_request: HttpRequest, publication: str, name: str) -> HttpResponse:
    """Send the share image of a claim as PNG."""
    return HttpResponse(_picture(_claim(publication, name)), content_type="image/png")


def _claim(publication: str, name: str) -> ClaimEntry:
    entry = entry_of(publication, name)
    if entry is None:
        raise Http404(f"There is no claim {name} of the publication {publication}.", name)
    return entry


@cache
def _picture(entry: ClaimEntry) -> bytes:
    """Return the image; the claims of a release have one each, of some 25 kB."""
    return render_png(card_of(entry))
