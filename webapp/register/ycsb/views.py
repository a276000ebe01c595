"""YCSB pages: published figures, and the register's own sweeps."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from results.models import PublishedClaim
from results.rules.act.loads import printed_decimal
from webapp.register.http.files import rows_response
from webapp.register.http.query_params import FORMAT, given_of, read_parameters
from webapp.register.http.responses import public_page
from webapp.register.ycsb.claims.entries import entries
from webapp.register.ycsb.claims.sentences import whom_it_favours
from webapp.register.ycsb.exports import FIGURE_FIELDS, POINT_FIELDS, figure_values, point_values
from webapp.register.ycsb.impossible_results import impossible_page
from webapp.register.ycsb.load_page import load_page, read_load_question
from webapp.register.ycsb.loads import LOAD_KEY_DIGITS, STATISTIC_WORDS, load_of
from webapp.register.ycsb.publication_page import overview, publication_page
from webapp.register.ycsb.publications import by_publication

FIGURES_SCHEMA = "drivecert.ycsb-figures/1"
POINTS_SCHEMA = "drivecert.ycsb-points/1"


@public_page
def index(request: HttpRequest) -> HttpResponse:
    form = _form(request)
    if form != "html":
        return rows_response(form, "ycsb", FIGURES_SCHEMA, FIGURE_FIELDS, figure_values(by_publication()))
    return render(request, "register/ycsb/index.html", {"section": "ycsb", **overview()})


@public_page
def impossible(request: HttpRequest) -> HttpResponse:
    given_of(request.GET, ())
    claims = [entry for entry in entries() if entry.impossible_results]
    # The claims of one publication say the same on one result.
    sentences = dict.fromkeys(
        f"{each.sentence} {whom_it_favours(entry, each)}" for entry in claims for each in entry.impossible_results
    )
    context = {"section": "ycsb", "page": impossible_page(), "claims": claims, "sentences": list(sentences)}
    return render(request, "register/ycsb/impossible.html", context)


@public_page
def publication(request: HttpRequest, publication: str) -> HttpResponse:
    form, found = _form(request), by_publication(publication=publication)
    if not found:
        raise Http404(f"There is no publication {publication}.")
    if form != "html":
        return rows_response(form, publication, FIGURES_SCHEMA, FIGURE_FIELDS, figure_values(found))
    page = publication_page(found[0], list(PublishedClaim.objects.filter(publication=publication).order_by("pk")))
    return render(request, "register/ycsb/publication.html", {"section": "ycsb", "page": page})


@public_page
def load(request: HttpRequest, key: str) -> HttpResponse:
    found = load_of(key) if len(key) == LOAD_KEY_DIGITS else None
    if found is None:
        raise Http404(f"No public YCSB run has the load {key}.")
    question = read_load_question(request.GET, found.operations, found.drives)
    if question.form != "html":
        return rows_response(question.form, f"ycsb-{key}", POINTS_SCHEMA, POINT_FIELDS, point_values(found))
    page = load_page(found, question)
    context = {
        "section": "ycsb",
        "page": page,
        "question": question,
        "at": "" if question.at is None else printed_decimal(question.at, 3),
        "statistics": STATISTIC_WORDS.items(),
    }
    return render(request, "register/ycsb/load.html", context)


def _form(request: HttpRequest) -> str:
    return str(read_parameters(request.GET, [FORMAT])["form"])
