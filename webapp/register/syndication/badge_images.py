"""Images of products for other sites: `/drive/<slug>/badge.svg`, `/drive/<slug>/picture.png` (Open Graph), the icon.

The badge has attributes only, without scripts, styles or links, so that it works under any content security policy.
"""

import io
from bisect import bisect_right
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.templatetags.static import static
from django.utils.text import capfirst
from django.views.decorators.http import require_safe
from PIL import Image, ImageColor, ImageDraw, ImageFont

from results.models import Product
from webapp.register.http.former_slugs import follows_renames
from webapp.register.http.responses import public_page
from webapp.register.svg.png import wrapped
from webapp.register.syndication.product_status import ProductStatus, public_product, status_of
from webapp.register.syndication.site import plain_text
from webapp.register.tables import categories
from webapp.register.tables.sentences import product_name

SVG = "image/svg+xml"
NARROW, WIDE = frozenset("fijlrtI.,:;'|!()[] "), frozenset("mwMW@%")
FIRST_SIZE, SECOND_SIZE, BADGE_EDGE = 13, 11, 10


@public_page
@follows_renames
def badge(request: HttpRequest, slug: str) -> HttpResponse:
    """Send the badge. `public_page` lets caches store it for a minute, so that a withdrawal shows soon."""
    product = public_product(slug)
    status = status_of(product)
    first, second = fitted(f"Drivecert: {status.words}", FIRST_SIZE), fitted(status.details, SECOND_SIZE)
    title = f"{plain_text(product_name(product))}. {plain_text(f'Drivecert: {status.words}. {status.details}')}"
    context = {
        "title": title,
        "first": first,
        "second": second,
        "width": max(first["width"], second["width"]) + 2 * BADGE_EDGE,
        "warns": status.warns,
    }
    return render(request, "register/syndication/badge.svg", context, content_type=SVG)


def fitted(text: str, size: int) -> dict[str, Any]:
    """Return text with its approximate width in a sans serif font; the SVG stretches it to exactly that width."""
    plain = plain_text(text)
    ems = sum(0.31 if each in NARROW else 0.9 if each in WIDE else 0.6 for each in plain)
    return {"text": plain, "width": round(ems * size)}


WIDTH, HEIGHT, EDGE = 1200, 630, 72
ROOM = WIDTH - 2 * EDGE
PAPER, INK, INK_2, ACCENT, OVER = "#ffffff", "#14191b", "#414b50", "#0b5876", "#a5350f"  # static/css/tokens.css, light
NAME_SIZES = (76, 64, 54, 46)
LEAST_SIZE = 24
NAME_LINES = 2
ELLIPSIS = "..."


@public_page
@follows_renames
def picture(_request: HttpRequest, slug: str) -> HttpResponse:
    """Send the picture as PNG."""
    product = public_product(slug)
    return HttpResponse(picture_of(product, status_of(product)), content_type="image/png")


def picture_of(product: Product, status: ProductStatus) -> bytes:
    """Return the picture of a product: name, status and tier. Long texts are shortened to fit."""
    image = Image.new("RGB", (WIDTH, HEIGHT), PAPER)
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 0, WIDTH, 14), fill=ACCENT)
    draw.text((EDGE, 60), "Drivecert", fill=ACCENT, font=font(34))
    lines, name_font = name_lines(plain_text(product_name(product)))
    for number, line in enumerate(lines):
        draw.text((EDGE, 150 + number * 92), line, fill=INK, font=name_font)
    draw.line((EDGE, 372, WIDTH - EDGE, 372), fill=INK, width=3)
    words, words_font = fitting(plain_text(capfirst(status.words)), (54, 46, 40, 34, LEAST_SIZE))
    draw.text((EDGE, 400), words, fill=OVER if status.warns else INK, font=words_font)
    details, details_font = fitting(plain_text(status.details), (34, 28, LEAST_SIZE))
    draw.text((EDGE, 480), details, fill=INK_2, font=details_font)
    draw.text((EDGE, 552), categories.spec_of(product).title, fill=INK_2, font=font(28))
    written = io.BytesIO()
    _flat(image).save(written, "PNG")
    return written.getvalue()


def _flat(image: Image.Image) -> Image.Image:
    """Return it in 32 colours, a third of the bytes. The default method takes 47 of 80 ms, this one 5 ms."""
    found = image.quantize(32, Image.Quantize.FASTOCTREE)
    colours, paper = found.getpalette() or [], int(found.getpixel((0, HEIGHT - 1)))  # type: ignore[arg-type]
    colours[3 * paper : 3 * paper + 3] = ImageColor.getrgb(PAPER)  # this method only approximates colours
    found.putpalette(colours)
    return found


def font(size: int) -> ImageFont.FreeTypeFont:
    """Return the font that Pillow includes, so that the picture is the same on every machine."""
    return ImageFont.load_default(size)  # type: ignore[return-value]  # a bitmap font only without FreeType


def fitting(text: str, sizes: tuple[int, ...]) -> tuple[str, ImageFont.FreeTypeFont]:
    """Return a line and the largest font in which it fits; a line that fits in none is truncated."""
    for size in sizes:
        if font(size).getlength(text) <= ROOM:
            return text, font(size)
    return cut(text, font(sizes[-1])), font(sizes[-1])


def cut(text: str, used: ImageFont.FreeTypeFont) -> str:
    """Return the longest beginning of a text that fits together with an ellipsis."""
    if used.getlength(text) <= ROOM:
        return text
    lengths = range(1, min(len(text), ROOM))  # no letter is narrower than a point
    fits = bisect_right(lengths, float(ROOM), key=lambda length: used.getlength(text[:length].rstrip() + ELLIPSIS))
    return text[:fits].rstrip() + ELLIPSIS


def name_lines(name: str) -> tuple[list[str], ImageFont.FreeTypeFont]:
    """Return a name in at most two lines, with the largest font in which they fit."""
    for size in NAME_SIZES:
        lines = wrapped(name, ROOM, font(size).getlength)
        if len(lines) <= NAME_LINES and all(font(size).getlength(line) <= ROOM for line in lines):
            return lines, font(size)
    used = font(NAME_SIZES[-1])
    first, *rest = wrapped(name[:ROOM], ROOM, used.getlength)
    return [cut(first, used), *([cut(" ".join(rest), used)] if rest else [])], used


@require_safe
def favicon(_request: HttpRequest) -> HttpResponse:
    """Redirect `/favicon.ico` to the icon, whose URL changes with its content."""
    return HttpResponseRedirect(static("img/mark.svg"), headers={"Cache-Control": "public, max-age=86400"})
