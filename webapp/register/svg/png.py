"""The rasteriser of share images, with a font of its own: an image is the same on every machine, also without fonts."""

from collections.abc import Callable
from functools import cache

import fontpkg
import resvg_py
from PIL import ImageFont

FAMILY = "Inter"
PLAIN, BOLD = 400, 700
ELLIPSIS = "..."


@cache
def font_file() -> str:
    """Return the path of the font, a variable one with every weight (package fontpkg-inter)."""
    return str(fontpkg.path(FAMILY))


def render_png(svg: str) -> bytes:
    """Return an SVG document as PNG. System fonts are never used."""
    return resvg_py.svg_to_bytes(
        svg_string=svg, skip_system_fonts=True, font_files=[font_file()], font_family=FAMILY, sans_serif_family=FAMILY
    )


@cache
def _font(size: int, weight: int) -> ImageFont.FreeTypeFont:
    font = ImageFont.truetype(font_file(), size)
    optical_size = min(max(size, 14), 32)  # the range of the font's first axis
    font.set_variation_by_axes([optical_size, weight])
    return font


def text_width(text: str, size: int, weight: int = PLAIN) -> float:
    """Return the width of a text in pixels of the image."""
    return _font(size, weight).getlength(text)


def fitting_size(text: str, sizes: tuple[int, ...], width: float, weight: int = PLAIN) -> int:
    """Return the first of some sizes, from large to small, in which a text fits; the last one if it fits in none."""
    return next((size for size in sizes if text_width(text, size, weight) <= width), sizes[-1])


def wrapped(text: str, width: float, width_of: Callable[[str], float]) -> list[str]:
    """Return a text as lines broken between words; a word that is too long has its own line.

    >>> wrapped("one of many words", 7, len)
    ['one of', 'many', 'words']
    """
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and width_of(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def lines_of(text: str, size: int, width: float, most: int, weight: int = PLAIN) -> list[str]:
    """Return a text as lines broken between words; what does not fit into `most` lines ends with an ellipsis."""
    lines = wrapped(text, width, lambda line: text_width(line, size, weight))
    cut = [*lines[:most]]
    if len(lines) > most or any(text_width(line, size, weight) > width for line in cut):
        cut = [_shortened(line, size, width, weight, ends=line is cut[-1] and len(lines) > most) for line in cut]
    return cut


def one_line(text: str, size: int, width: float, weight: int = PLAIN) -> str:
    """Return a text that fits into one line, with an ellipsis if it was too long."""
    return " ".join(lines_of(text, size, width, 1, weight))


def _shortened(line: str, size: int, width: float, weight: int, *, ends: bool) -> str:
    """Return a line that fits, with an ellipsis if something of it, or after it, is left out."""
    if not ends and text_width(line, size, weight) <= width:
        return line
    while line and text_width(f"{line}{ELLIPSIS}", size, weight) > width:
        line = line[:-1].rstrip()
    return f"{line}{ELLIPSIS}"
