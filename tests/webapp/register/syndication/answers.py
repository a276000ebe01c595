"""Parser of XML responses."""

from xml.etree import ElementTree


def read_xml(answer):
    return ElementTree.fromstring(answer.content)  # noqa: S314 - an answer of our own
