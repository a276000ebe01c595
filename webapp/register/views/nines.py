"""Nines at scale."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from webapp.register.answer_rows import answer_rows
from webapp.register.asked import form_address
from webapp.register.nines import FIELDS, nines_page, nines_values, read_nines_question
from webapp.register.public_page import public_page

SCHEMA = "drivecert.nines/1"


@public_page
def nines(request: HttpRequest) -> HttpResponse:
    question = read_nines_question(request.GET)
    page = nines_page(question)
    if question.form != "html":
        return answer_rows(question.form, "nines", SCHEMA, FIELDS, nines_values(page))
    context = {
        "section": "sizing",
        "page": page,
        "csv_address": form_address(request, "csv"),
        "json_address": form_address(request, "json"),
    }
    return render(request, "register/nines/nines.html", context)
