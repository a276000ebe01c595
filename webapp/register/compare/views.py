"""The page that sets 2 to 6 drives or runs side by side."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from webapp.register.compare.choice import choose
from webapp.register.compare.exports import as_csv, as_json
from webapp.register.compare.named_drives import asked_otherwise
from webapp.register.compare.page import Comparison, comparison_of
from webapp.register.compare.query import Chosen, read_chosen
from webapp.register.http.responses import public_page
from webapp.register.limits.profile import current_limits


@public_page
def compare(request: HttpRequest) -> HttpResponse:
    profile = current_limits()
    chosen = read_chosen(request.GET, profile)
    if (otherwise := asked_otherwise(request, chosen)) is not None:
        return otherwise
    told = comparison_of(choose(chosen, profile), chosen.limits)
    if chosen.form != "html":
        return as_csv(told) if chosen.form == "csv" else as_json(told)
    return render(request, "register/compare/compare.html", _comparing(chosen, told))


def _comparing(chosen: Chosen, told: Comparison) -> dict[str, object]:
    """Return what the page shows; without limits where nothing on it is held against any."""
    shown: dict[str, object] = {
        "section": "compare",
        "told": told,
        "chosen": chosen,
        "csv_address": chosen.address("csv"),
        "json_address": chosen.address("json"),
    }
    if not told.limits_sentence:
        return shown
    return shown | {
        "limits": chosen.limits,
        "limits_sentence": told.limits_sentence,
        "kept_parameters": chosen.pairs,
        "profile_address": chosen.profile_address,
    }
