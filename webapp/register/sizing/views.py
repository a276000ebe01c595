"""Views of the sizing page: how many drives a cluster needs."""

import json
from decimal import Decimal
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.shortcuts import render

from results.models import Profile
from results.rules.act.limits import Limit, parse_limits
from results.rules.sizing import Tested
from webapp.register.http.files import rows_response
from webapp.register.http.query_params import ParameterError, form_address, labelled_errors
from webapp.register.http.responses import public_page
from webapp.register.sizing import query as sizing_query
from webapp.register.sizing.candidates import candidates, refuse_unknown_drives, refuse_unknown_vendor
from webapp.register.sizing.mixes import tested_mixes
from webapp.register.sizing.page import FIELDS, sizing_page, sizing_values
from webapp.register.sizing.query import SizingQuestion

SCHEMA = "drivecert.sizing/1"


@public_page
def sizing(request: HttpRequest) -> HttpResponse:
    document = Profile.current().document
    profile = parse_limits(document)
    if (shorter := sizing_query.without_empty_prices(request.GET)) is not None:
        return HttpResponseRedirect(shorter)
    try:
        question, page = answer_of(request.GET, document)
    except ParameterError as error:
        return _form_with_error(request, error, profile)
    if question.form != "html":
        return rows_response(question.form, "sizing", SCHEMA, FIELDS, list(map(sizing_values, page["rows"])))
    context = {
        **sizing_query.form_context(request.GET),
        "page": page,
        "mixes": tested_mixes(request.GET, question.demand, _tested_workload(document)),
        "wider_address": sizing_query.without_restrictions(request.GET),
        "limits": question.limits,
        "csv_address": form_address(request, "csv"),
        "json_address": form_address(request, "json"),
    }
    return render(request, "register/sizing/sizing.html", context)


def answer_of(query: QueryDict, document: str) -> tuple[SizingQuestion, dict[str, Any]]:
    """Return the question of a query, and the page that answers it by a profile's document. Raises ParameterError."""
    parameters = sizing_query.sizing_parameters(query, parse_limits(document))
    with labelled_errors(parameters):
        question = sizing_query.read_sizing_question(query, parameters)
        refuse_unknown_drives(question.priced_drives, question.drive)
        refuse_unknown_vendor(question.restrictions.vendor)
    found = candidates(question.limits, question.prices, kind=question.kind)
    return question, sizing_page(question, found, _tested_workload(document))


def _tested_workload(document: str) -> Tested:
    """Return the workload of a profile's document."""
    profile = json.loads(document)
    tolerance_points = Decimal(profile["ratio_tolerance_points"])
    return Tested(Decimal(profile["reads_pct"]), tolerance_points, profile["object_bytes"])


def _form_with_error(request: HttpRequest, refused: ParameterError, profile: tuple[Limit, ...]) -> HttpResponse:
    """Return the form as typed with the invalid field marked; raise errors of other parameters again."""
    if request.GET.get("format", "html") != "html" or not sizing_query.is_of_the_form(refused.parameter, profile):
        raise refused
    context = sizing_query.refused_context(request.GET, refused, profile)
    return render(request, "register/sizing/sizing.html", context, status=400)
