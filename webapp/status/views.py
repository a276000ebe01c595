"""The public status page."""

from django.db.models import Min
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from webapp.register.http.query_params import given_of
from webapp.register.http.responses import public_page
from webapp.status.history import SHOWN_DAYS, part_lines, problem_lines, shown_days, state_meanings
from webapp.status.models import PartDay


@public_page
def status(request: HttpRequest) -> HttpResponse:
    given_of(request.GET, ())
    now = timezone.now()
    rows = list(PartDay.objects.filter(day__gte=shown_days(now)[-1]))
    first_days = dict(PartDay.objects.values_list("part").annotate(Min("day")))
    context = {
        "section": "about",
        "parts": part_lines(rows, now),
        "problems": problem_lines(rows, first_days, now),
        "days": SHOWN_DAYS,
        "meanings": state_meanings(),
    }
    return render(request, "status/status.html", context)
