"""How many of which drive a cluster needs."""

import json
from decimal import Decimal

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from results.rules.limits import Limit, parse_limits
from results.rules.sizing import Tested
from webapp.register.answer_rows import answer_rows
from webapp.register.asked import form_address
from webapp.register.profile import current_profile
from webapp.register.public_page import public_page
from webapp.register.sizing.offers import candidates
from webapp.register.sizing.page import FIELDS, sizing_page, sizing_values
from webapp.register.sizing.question import FIELDS as FORM_FIELDS
from webapp.register.sizing.question import read_sizing_question

SCHEMA = "drivecert.sizing/1"


@public_page
def sizing(request: HttpRequest) -> HttpResponse:
    profile = current_profile().document
    question = read_sizing_question(request.GET, parse_limits(profile))
    limits = [Limit(threshold_us, limit_pct) for threshold_us, limit_pct in question.limits.by_threshold.items()]
    page = sizing_page(question, candidates(limits, question.prices), _tested(profile))
    if question.form != "html":
        return answer_rows(question.form, "sizing", SCHEMA, FIELDS, sizing_values(page))
    context = {
        "section": "sizing",
        "page": page,
        "fields": [(field, question.given[field.name]) for field in FORM_FIELDS],
        "limits": question.limits,
        "csv_address": form_address(request, "csv"),
        "json_address": form_address(request, "json"),
    }
    return render(request, "register/sizing/sizing.html", context)


def _tested(profile: str) -> Tested:
    told = json.loads(profile)
    return Tested(Decimal(told["reads_pct"]), Decimal(told["ratio_tolerance_points"]), told["object_bytes"])
