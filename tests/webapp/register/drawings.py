"""Parser of the charts that the server draws: marks with their words, and elements by class."""

import re
from xml.etree import ElementTree

NAMESPACE = re.compile(r' xmlns="[^"]*"')


def parsed(svg):
    """Return an element, or several ones below a group, without namespaces."""
    return ElementTree.fromstring(NAMESPACE.sub("", str(svg)))  # noqa: S314 - our own


def drawn(content):
    """Return the group of the elements of a drawing."""
    return parsed(f"<g>{content}</g>")


def charts_of(response):
    """Return the charts of a page."""
    found = re.findall(r'<svg class="chart".*?</svg>(?=</div>)', response.text, re.DOTALL)
    return [parsed(re.sub(r" data-readings(?=[ >])", "", each)) for each in found]


def words_of(chart):
    """Return the words of the marks, in their order."""
    return [mark.find("title").text for mark in chart.iter("g") if mark.get("class") == "mark"]


def of_class(chart, kind):
    """Return the elements that have a class."""
    return [each for each in chart.iter() if kind in (each.get("class") or "").split()]


def texts_of(chart, kind):
    """Return the texts of a class."""
    return [each.text for each in of_class(chart, kind) if each.tag == "text"]


def percent(text):
    """Return a position of a page as a number."""
    return float(text.removesuffix("%"))
