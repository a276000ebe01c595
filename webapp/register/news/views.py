"""Pages of what changed: the newest changes, and a permanent summary of each month."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from webapp.register.http.files import Value, rows_response
from webapp.register.http.query_params import FORMAT, form_address, given_of, labelled_errors, number, read_parameters
from webapp.register.http.responses import public_page
from webapp.register.news.changes import Change, changes_page
from webapp.register.news.events import first_change
from webapp.register.news.months import parse_month, summary_months
from webapp.register.news.summary import summary_of

SCHEMA = "drivecert.news/1"
EVENT_MAX = 9_999_999_999_999
BEFORE = number("before", "Changes before", ("1", str(EVENT_MAX)), is_whole=True)
PARAMETERS = (BEFORE, FORMAT)
FIELDS = ("event", "at", "group", "label", "name", "page", "sentence", "reason", "mark")


@public_page
def news(request: HttpRequest) -> HttpResponse:
    """Show the newest changes, or those before one of them."""
    with labelled_errors(PARAMETERS):
        query = read_parameters(request.GET, PARAMETERS)
        page = changes_page(query["before"])
    if query["form"] != "html":
        return rows_response(query["form"], "news", SCHEMA, FIELDS, [change_values(change) for change in page.changes])
    context = {
        "section": "news",
        "page": page,
        "is_newest": query["before"] is None,
        "months": summary_months(page.first),
        "csv_address": form_address(request, "csv"),
        "json_address": form_address(request, "json"),
    }
    return render(request, "register/news/news.html", context)


def change_values(change: Change) -> dict[str, Value]:
    """Return a change as it is exported; null where there is no text."""
    texts = {name: getattr(change, name) or None for name in ("label", "name", "page", "sentence", "reason", "mark")}
    return {"event": change.event_id, "at": change.at.isoformat(), "group": change.group.value, **texts}


@public_page
def month(request: HttpRequest, code: str) -> HttpResponse:
    """Show the summary of a month, also of a month without a change; 404 for a month that the register has not seen."""
    given_of(request.GET, ())
    first = first_change()
    months, wanted = summary_months(first), parse_month(code)
    if wanted is None or wanted not in months:
        span = months[0].code if len(months) == 1 else f"{months[-1].code} to {months[0].code}"
        raise Http404(f"There is no summary of the month {code}. The register has summaries of {span}.")
    context = {
        "section": "news",
        "summary": summary_of(wanted, first),
        "earlier": wanted.previous if wanted.previous in months else None,
        "later": wanted.next if wanted.next in months else None,
    }
    return render(request, "register/news/month.html", context)
