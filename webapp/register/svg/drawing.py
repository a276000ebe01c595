"""Elements of charts. One drawing has two outputs: a page, which browsers resize, and an image of a fixed size.

On a page, positions are percentages and sizes are pixels: the chart follows the width of its page without a script, and
its text never shrinks. In an image, both are pixels; sizes are multiplied by the zoom of the image.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from django.utils.html import conditional_escape
from django.utils.safestring import SafeString, mark_safe


def tag(name: str, content: str = "", /, **attributes: object) -> SafeString:
    """Return an element with escaped attributes; content is escaped unless it is safe. None leaves an attribute out.

    >>> tag("text", "a < b", text_anchor="end", x=None)
    '<text text-anchor="end">a &lt; b</text>'
    """
    written = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{conditional_escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    return mark_safe(f"<{name}{written}>{conditional_escape(content)}</{name}>")  # noqa: S308 - escaped here


def joined(parts: Iterable[str]) -> SafeString:
    """Return elements one after the other; what is not safe is escaped."""
    return mark_safe("".join(conditional_escape(part) for part in parts))  # noqa: S308 - escaped here


@dataclass(frozen=True)
class Surface:
    """The area that a chart is drawn in, by default the whole of an SVG on a page."""

    left: float = 0
    top: float = 0
    width: float = 100
    height: float = 100
    unit: str = "%"
    zoom: float = 1

    def x(self, position: float) -> str:
        """Return the coordinate of a position: 0 at the left, 1 at the right."""
        return f"{self.left + self.width * position:.2f}{self.unit}"

    def y(self, position: float) -> str:
        """Return the coordinate of a position: 0 at the bottom, 1 at the top."""
        return f"{self.top + self.height * (1 - position):.2f}{self.unit}"

    def size(self, pixels: float) -> str:
        """Return a size or an offset in pixels of the page."""
        return f"{pixels * self.zoom:g}"

    def line(self, start: tuple[float, float], end: tuple[float, float], kind: str) -> SafeString:
        """Return a line between two positions; `kind` is its class."""
        (x1, y1), (x2, y2) = start, end
        return tag("line", class_=kind, x1=self.x(x1), y1=self.y(y1), x2=self.x(x2), y2=self.y(y2))

    def bar(self, start: tuple[float, float], end: tuple[float, float], kind: str) -> SafeString:
        """Return a rectangle between two opposite corners."""
        (left, right), (bottom, top) = sorted((start[0], end[0])), sorted((start[1], end[1]))
        width, height = (right - left) * self.width, (top - bottom) * self.height
        sides = {"width": f"{width:.2f}{self.unit}", "height": f"{height:.2f}{self.unit}"}
        return tag("rect", class_=kind, x=self.x(left), y=self.y(top), **sides)

    def text(
        self, at: tuple[float, float], words: str, kind: str, *, anchor: str = "start", dx: float = 0, dy: float = 0
    ) -> SafeString:
        """Return a text at a position, moved by pixels; `anchor` is the end of the text that is there."""
        moved = {"dx": self.size(dx) if dx else None, "dy": self.size(dy) if dy else None}
        anchored = None if anchor == "start" else anchor
        return tag("text", words, class_=kind, x=self.x(at[0]), y=self.y(at[1]), text_anchor=anchored, **moved)

    def mark(self, words: str, *parts: str) -> SafeString:
        """Return elements that the pointer and the keyboard name with the same words."""
        return tag("g", joined([tag("title", words), *parts]), class_="mark")
