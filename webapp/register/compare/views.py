"""The page that compares 2 to 6 drives or runs."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from webapp.register.compare.choice import choose
from webapp.register.compare.exports import as_csv, as_json
from webapp.register.compare.named_drives import select_drives, typed_names
from webapp.register.compare.page import comparison_of
from webapp.register.compare.query import read_chosen
from webapp.register.http.responses import public_page
from webapp.register.limits.profile import current_limits


@public_page
def compare(request: HttpRequest) -> HttpResponse:
    profile = current_limits()
    selection = select_drives(request, read_chosen(request.GET, profile), profile)
    if isinstance(selection, HttpResponse):
        return selection
    chosen = selection.chosen
    comparison = comparison_of(choose(chosen, profile), chosen.limits)
    if chosen.form != "html":
        return as_csv(comparison) if chosen.form == "csv" else as_json(comparison)
    context: dict[str, object] = {
        "section": "compare",
        "comparison": comparison,
        "chosen": chosen,
        "chosen_drives": selection.chosen_drives,
        "other_drives": typed_names(comparison.slugs),
        "csv_address": chosen.address("csv"),
        "json_address": chosen.address("json"),
    }
    if comparison.limits_sentence:  # empty if the runs have no shares
        context |= {
            "limits": chosen.limits,
            "limits_sentence": comparison.limits_sentence,
            "other_parameters": chosen.pairs,
            "profile_address": chosen.profile_address,
        }
    return render(request, "register/compare/compare.html", context)
