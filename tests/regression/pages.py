"""Reader of the parts of a page that tests, scripts and links need: links, ids, data attributes, tables and forms."""

import json
import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

VOID = frozenset(["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"])
LINK_ATTRIBUTES = {"a": "href", "link": "href", "img": "src", "form": "action", "script": "src", "source": "src"}
NUMBER = re.compile(r"(?<![\w.])[-+]?\d[\d,\u202f\u2009]*(?:\.\d+)?")
TEMPLATE = re.compile(r"<template\b.*?</template>", re.DOTALL)  # filled by scripts: no part of the page yet
SENTENCE_WORDS = 5  # a cell with more words is a sentence, which may be rewritten with its numbers


@dataclass
class Form:
    """A form with its controls: names with the values that it would send, and the choices of its lists."""

    action: str
    values: list[tuple[str, str]] = field(default_factory=list)
    choices: dict[str, list[tuple[str, str]]] = field(default_factory=dict)


class Page(HTMLParser):
    """The parts of one page; texts are kept for tables and choices only."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: list[str] = []
        self.data: list[tuple[str, str]] = []
        self.tables: list[list[list[str]]] = []
        self.forms: list[Form] = []
        self.documents: list[Any] = []
        self.text: list[str] = []
        self._cell: list[str] | None = None
        self._script: list[str] | None = None
        self._choice: tuple[str, str] | None = None
        self._list_name = ""
        self.feed(TEMPLATE.sub("", text))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record the attributes of the tag."""
        given = {name: value or "" for name, value in attrs}
        if given.get(LINK_ATTRIBUTES.get(tag, "")):
            self.links.append(given[LINK_ATTRIBUTES[tag]])
        if "id" in given:
            self.ids.append(given["id"])
        self.data += [(name, value) for name, value in given.items() if name.startswith("data-")]
        if tag == "time":
            self.data.append(("datetime", given.get("datetime", "")))
        self._open_table_part(tag)
        self._open_control(tag, given)
        if tag == "script" and "json" in given.get("type", ""):
            self._script = []

    def _open_table_part(self, tag: str) -> None:
        if tag == "table":
            self.tables.append([])
        elif tag == "tr" and self.tables:
            self._close_cell()
            self.tables[-1].append([])
        elif tag in {"td", "th"} and self.tables:
            self._close_cell()
            self._cell = []

    def _open_control(self, tag: str, given: dict[str, str]) -> None:
        if tag == "form":
            self.forms.append(Form(given.get("action", "")))
        elif not self.forms:
            return
        elif tag in {"input", "textarea", "button"} and given.get("name"):
            self.forms[-1].values.append((given["name"], given.get("value", "")))
        elif tag == "select":
            self._list_name = given.get("name", "")
            self.forms[-1].choices.setdefault(self._list_name, [])
        elif tag == "option":
            self._close_choice()
            self._choice = (given.get("value", ""), "")

    def handle_endtag(self, tag: str) -> None:
        """Close the element of the tag."""
        if tag in {"td", "th", "tr", "table"}:
            self._close_cell()
        elif tag in {"option", "select"}:
            self._close_choice()
        elif tag == "script" and self._script is not None:
            self.documents.append(parsed_json("".join(self._script)))
            self._script = None

    def handle_data(self, data: str) -> None:
        """Add text to the open cell, choice or document."""
        self.text.append(data)
        if self._script is not None:
            self._script.append(data)
        if self._cell is not None:
            self._cell.append(data)
        if self._choice is not None:
            self._choice = (self._choice[0], self._choice[1] + data)

    def _close_cell(self) -> None:
        if self._cell is not None and self.tables:
            rows = self.tables[-1] or [[]]
            rows[-1].append(" ".join("".join(self._cell).split()))
            self.tables[-1] = rows
        self._cell = None

    def _close_choice(self) -> None:
        if self._choice is not None and self.forms:
            value, text = self._choice
            self.forms[-1].choices.setdefault(self._list_name, []).append((value, " ".join(text.split())))
        self._choice = None


def parsed_json(text: str) -> Any:
    """Return the parsed text, or None if it is not JSON."""
    try:
        return json.loads(text)
    except ValueError:
        return None


def numbers_of_cell(text: str) -> list[str]:
    """Return the numbers of a table cell without thousands separators; empty if the cell is a sentence."""
    if len(re.findall(r"[A-Za-z]{2,}", text)) > SENTENCE_WORDS:
        return []
    return [re.sub(r"[,\u202f\u2009]", "", found) for found in NUMBER.findall(text)]
