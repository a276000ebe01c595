"""The page on the register itself, with what the operator states in the settings."""

from dataclasses import dataclass

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from results.models import Profile
from webapp.register.about.holdings import holdings, senders_sentence
from webapp.register.about.operator import operator
from webapp.register.certificates.summary import certified_sentence
from webapp.register.http.query_params import given_of
from webapp.register.http.responses import public_page
from webapp.register.limits.profile import current_limits

# Names and addresses of licences by their SPDX id: https://spdx.org/licenses/
LICENCES = {
    "CC-BY-4.0": ("Creative Commons Attribution 4.0 International", "https://creativecommons.org/licenses/by/4.0/"),
    "CC-BY-SA-4.0": (
        "Creative Commons Attribution-ShareAlike 4.0 International",
        "https://creativecommons.org/licenses/by-sa/4.0/",
    ),
    "CC0-1.0": ("Creative Commons Zero 1.0 Universal", "https://creativecommons.org/publicdomain/zero/1.0/"),
    "ODbL-1.0": ("Open Data Commons Open Database License 1.0", "https://opendatacommons.org/licenses/odbl/1-0/"),
}


@dataclass(frozen=True)
class Licence:
    """The licence of the data; name and address are empty for a licence that this page does not know."""

    code: str
    name: str = ""
    address: str = ""


def licence() -> Licence:
    """Return the licence of the data."""
    return Licence(settings.DATA_LICENCE, *LICENCES.get(settings.DATA_LICENCE, ()))


@public_page
def about(request: HttpRequest) -> HttpResponse:
    given_of(request.GET, ())
    context = {
        "section": "about",
        "operator": operator(),
        "licence": licence(),
        "profile": Profile.current(),
        "limits": current_limits(),
        "certified": certified_sentence(),
        "holdings": holdings().sentences,
        "senders": senders_sentence(),
        "site": settings.PUBLIC_URL,
    }
    return render(request, "register/about/about.html", context)
