"""Nines at scale."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from webapp.register.http.files import rows_response
from webapp.register.http.query_params import form_address
from webapp.register.http.responses import public_page
from webapp.register.nines.page import FIELDS, nines_page, nines_values, read_nines_question

SCHEMA = "drivecert.nines/1"


@public_page
def nines(request: HttpRequest) -> HttpResponse:
    question = read_nines_question(request.GET)
    page = nines_page(question)
    if question.form != "html":
        return rows_response(question.form, "nines", SCHEMA, FIELDS, nines_values(page))
    context = {
        "section": "sizing",
        "page": page,
        "csv_address": form_address(request, "csv"),
        "json_address": form_address(request, "json"),
    }
    return render(request, "register/nines/nines.html", context)
