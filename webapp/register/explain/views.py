"""Explanations: the numbers, the rules, ACT and YCSB, the load generator, how to submit, and the glossary."""

import json
from collections.abc import Mapping
from pathlib import Path

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from results.lifecycle.deadlines import RULES
from results.models import Profile
from webapp.register.explain.accuracy import measurements
from webapp.register.explain.glossary_text import glossary_sections
from webapp.register.explain.site_pages import SITE_PAGES
from webapp.register.http.query_params import given_of
from webapp.register.http.responses import public_page
from webapp.register.limits.profile import current_limits
from webapp.register.runs.example import example_address
from webapp.register.tables.marks import tier_meanings
from webapp.register.tables.meanings import SECTIONS
from webapp.templatetags import units


@public_page
def reading(request: HttpRequest) -> HttpResponse:
    context = {"columns": SECTIONS, "limits": current_limits(), "tiers": tier_meanings(), "site_pages": SITE_PAGES}
    return _page(request, "reading", context | {"example_address": example_address()})


@public_page
def rules(request: HttpRequest) -> HttpResponse:
    profile = Profile.current()
    context = {"profile": profile, "document": json.loads(profile.document), "limits": current_limits()}
    return _page(request, "rules", context)


@public_page
def tools(request: HttpRequest) -> HttpResponse:
    return _page(request, "tools", {})


@public_page
def generator(request: HttpRequest) -> HttpResponse:
    targets = [target for measurement in measurements() for target in measurement.targets]
    met_count = sum(target.is_met for target in targets)
    context = {"measurements": measurements(), "targets_count": len(targets), "met_count": met_count}
    return _page(request, "generator", context)


@public_page
def submitting(request: HttpRequest) -> HttpResponse:
    limits = {step.name.lower(): units.counted(rule.limit.days, "day") for step, rule in RULES.items()}
    return _page(request, "submitting", {"limits": limits, "has_program": Path(settings.DRIVETEST).is_file()})


@public_page
def glossary(request: HttpRequest) -> HttpResponse:
    return _page(request, "glossary", {"sections": glossary_sections()})


def _page(request: HttpRequest, name: str, context: Mapping[str, object]) -> HttpResponse:
    given_of(request.GET, ())  # the pages have no parameters
    return render(request, f"register/explain/{name}.html", {"section": "explain", "explained": name, **context})
