"""`/drive/<slug>/badge.svg`: where a product stands now, to be shown on other sites.

Attributes only, without script, style or link: it is the same under any policy of the page that shows it.
"""

from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from results.models import Product
from webapp.register.http.responses import public_page
from webapp.register.syndication.product_status import standing_of
from webapp.register.syndication.site import plain_text
from webapp.register.tables.sentences import product_name

SVG = "image/svg+xml"
NARROW, WIDE = frozenset("fijlrtI.,:;'|!()[] "), frozenset("mwMW@%")
FIRST_SIZE, SECOND_SIZE, EDGE = 13, 11, 10


@dataclass(frozen=True)
class BadgeLine:
    """A line of text with the width it is fitted into, whatever font shows it."""

    text: str
    width: int


def public_product(slug: str) -> Product:
    """Return the product, where everyone may see one of its runs."""
    found = Product.objects.public().filter(slug=slug).first()
    if found is None:
        raise Http404(f"No drive is named {slug}.")
    return found


@public_page
def badge(request: HttpRequest, slug: str) -> HttpResponse:
    """Draw the badge; `public_page` lets it be kept for a minute, so that a withdrawal shows soon."""
    product = public_product(slug)
    standing = standing_of(product)
    first, second = fitted(f"Drivecert: {standing.words}", FIRST_SIZE), fitted(standing.details, SECOND_SIZE)
    title = f"{plain_text(product_name(product))}. {plain_text(f'Drivecert: {standing.words}. {standing.details}')}"
    context = {
        "title": title,
        "first": first,
        "second": second,
        "width": max(first.width, second.width) + 2 * EDGE,
        "warns": standing.warns,
    }
    return render(request, "register/syndication/badge.svg", context, content_type=SVG)


def fitted(text: str, size: int) -> BadgeLine:
    """Return text with about the width that a sans serif font needs; the drawing then holds it to that width."""
    plain = plain_text(text)
    ems = sum(0.31 if each in NARROW else 0.9 if each in WIDE else 0.6 for each in plain)
    return BadgeLine(plain, round(ems * size))
