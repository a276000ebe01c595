"""Pages of what changed: the newest changes, and a permanent summary of each month."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from webapp.register.http.query_params import given_of, number, read_parameters
from webapp.register.http.responses import public_page
from webapp.register.news.changes import changes_page
from webapp.register.news.months import parse_month, summary_months
from webapp.register.news.summary import summary_of

BEFORE = number("before", "1", "9999999999999", is_whole=True)


@public_page
def news(request: HttpRequest) -> HttpResponse:
    """Show the newest changes, or those before one of them."""
    before = read_parameters(request.GET, [BEFORE])["before"]
    context = {"section": "news", "page": changes_page(before), "is_newest": before is None, "months": summary_months()}
    return render(request, "register/news/news.html", context)


@public_page
def month(request: HttpRequest, code: str) -> HttpResponse:
    """Show the summary of a month, also of a month without a change; 404 for a month that the register has not seen."""
    given_of(request.GET, ())
    months, wanted = summary_months(), parse_month(code)
    if wanted is None or wanted not in months:
        span = months[0].code if len(months) == 1 else f"{months[-1].code} to {months[0].code}"
        raise Http404(f"There is no summary of the month {code}. The register has summaries of {span}.")
    context = {
        "section": "news",
        "summary": summary_of(wanted),
        "earlier": wanted.previous if wanted.previous in months else None,
        "later": wanted.next if wanted.next in months else None,
    }
    return render(request, "register/news/month.html", context)
