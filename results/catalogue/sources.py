"""Where the published figures come from: title, publisher, address and day of retrieval, as far as recorded."""

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

SOURCES = Path(__file__).parent / "published" / "sources.csv"
CERTIFICATION_PAGE = "act-certified-drives"


@dataclass(frozen=True)
class PublishedSource:
    """One publication; an address or a day that was not recorded with its figures is empty, and never made up."""

    source: str
    title: str
    publisher: str
    address: str
    retrieved_on: str


@cache
def published_sources() -> dict[str, PublishedSource]:
    """Return the publications by the name that their figures have in results/catalogue/published."""
    with SOURCES.open(newline="", encoding="utf-8") as file:
        return {row["source"]: PublishedSource(**row) for row in csv.DictReader(file)}
