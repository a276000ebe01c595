"""Parser of pages: tables by row and cell."""

import re
from html import unescape
from html.parser import HTMLParser


class TableReader(HTMLParser):
    """Collect the rows of every table: their cells' texts, and the classes of each row."""

    def __init__(self):
        super().__init__()
        self.rows, self.classes, self._cell, self._table = [], [], None, ""

    def handle_starttag(self, tag, attributes):
        if tag == "table":
            self._table = dict(attributes).get("class") or ""
        if any(name in self._table for name in ("mini", "below-table", "own-prices")):
            return  # the answer above the runs of a drive, figures below the table, or the prices of the reader
        if tag == "tr":
            self.rows.append([])
            self.classes.append(dict(attributes).get("class") or "")
        elif tag in {"td", "th"} and self.rows:
            self._cell = []

    def handle_endtag(self, tag):
        if tag in {"td", "th"} and self._cell is not None:
            self.rows[-1].append(" ".join("".join(self._cell).split()))
            self._cell = None

    def handle_data(self, data):
        if self._cell is not None:
            self._cell.append(data)


def shown_html(response):
    """Return a page without its templates, which scripts fill."""
    return re.sub(r"<template\b.*?</template>", "", response.content.decode(), flags=re.DOTALL)


PROVIDERS = re.compile(r'<table class="narrow stacked providers"[^>]*>.*?</table>', re.DOTALL)


def read_tables(response):
    """Return a reader of a page's tables, without that of the best instance of each provider."""
    reader = TableReader()
    reader.feed(PROVIDERS.sub("", shown_html(response)))
    return reader


def read_rows(response):
    """Return the rows of runs of a page, as lists of texts, without heads and group titles."""
    reader = read_tables(response)
    return [row for row, name in zip(reader.rows, reader.classes, strict=True) if "group" not in name and len(row) > 1][
        1:
    ]


def read_titles(response):
    """Return the titles of the groups of a page's tables."""
    reader = read_tables(response)
    return [row[0] for row, name in zip(reader.rows, reader.classes, strict=True) if "group" in name]


def read_headline(response):
    """Return the sentences of the headline of a page of drives: the first ones, and the others."""
    parts = re.search(r"<p data-headline>(.*?)</p>.*?data-headline-others>(.*?)</p>", response.text, re.DOTALL).groups()
    return [unescape(part).replace("\N{NO-BREAK SPACE}", " ") for part in parts]
