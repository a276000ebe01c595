"""The public status page."""

from datetime import timedelta

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from webapp.register.http.query_params import given_of
from webapp.register.http.responses import public_page
from webapp.status.history import SHOWN_DAYS, part_lines, problem_lines
from webapp.status.models import PartDay


@public_page
def status(request: HttpRequest) -> HttpResponse:
    given_of(request.GET, ())
    now = timezone.now()
    rows = list(PartDay.objects.filter(day__gt=now.date() - timedelta(days=SHOWN_DAYS)))
    context = {
        "section": "about",
        "parts": part_lines(rows, now),
        "problems": problem_lines(rows, now),
        "days": SHOWN_DAYS,
    }
    return render(request, "status/status.html", context)
