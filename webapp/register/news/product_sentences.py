"""Words for changes of products: new names, facts, list prices, merges and splits."""

from collections.abc import Mapping
from typing import Any

from results.products.facts import FACTS_CHANGED, PRICE_ADDED, PRICE_REMOVED
from results.products.moves import JOINED, MERGED, RECEIVED, RETURNED, REVERTED, SPLIT
from results.products.renaming import RENAMED
from webapp.register.news.corrected_values import changes_words
from webapp.register.tables.sentences import number_of

# Of the two events of a merge or split, the one of the product that the runs left is news.
NEWS_KINDS = (RENAMED, FACTS_CHANGED, PRICE_ADDED, PRICE_REMOVED, MERGED, SPLIT, REVERTED)


def change_words(kind: str, details: Mapping[str, Any]) -> str:
    """Return what a change of a product changed, without the verb; empty for other kinds."""
    if kind in {RENAMED, FACTS_CHANGED}:
        return changes_words(details["changes"])
    if kind in {PRICE_ADDED, PRICE_REMOVED}:
        price = details["price"]
        return f"{price['amount']} {price['currency']} on {price['stated_on']}"
    if kind in {MERGED, SPLIT}:
        return f"{_runs(details)} to {details['into']}"
    if kind in {JOINED, RECEIVED}:
        return f"{_runs(details)} from {details['from']}"
    if kind == REVERTED:
        return f"back from {details['from']}"
    return f"back to {details['into']}" if kind == RETURNED else ""


def product_sentence(kind: str, details: Mapping[str, Any]) -> str:
    """Return the sentence of a change in the news."""
    return f"{BEGINNINGS[kind]}: {change_words(kind, details)}."


def _runs(details: Mapping[str, Any]) -> str:
    return number_of(len(details["runs"]), "public run", "public runs")


BEGINNINGS = {
    RENAMED: "The product has another name",
    FACTS_CHANGED: "Facts of the product changed",
    PRICE_ADDED: "A list price was entered",
    PRICE_REMOVED: "A list price was removed",
    MERGED: "The product was merged into another one",
    SPLIT: "A part of its runs moved to another product",
    REVERTED: "A merge or split was reverted, and its runs moved",
}
