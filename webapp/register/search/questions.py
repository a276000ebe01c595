"""Searches that are questions: the fastest drives of a maker or provider, a comparison, and a speed in tps."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import urlencode

from results.models import Category
from results.rules.act.limits import Limit
from results.rules.plural import listed
from webapp.register.compare.query import FEWEST, MOST
from webapp.register.drives.cloud import DEVICE_FIRST
from webapp.register.drives.filters import DEVICE_TPS, PROVIDER, TPS, VENDOR
from webapp.register.drives.query import SEPARATOR
from webapp.register.drives.search import SHOWN_AT_MOST, fastest_per_device, found_slugs, lookup
from webapp.register.drives.store.encoded_columns import ColumnStore
from webapp.register.http.query_params import words_of
from webapp.register.http.typed_numbers import plain_number
from webapp.register.limits.reader_limits import LARGEST_TPS, LOAD
from webapp.register.search.groups import IGNORED
from webapp.register.tables.other_names import MAKERS
from webapp.templatetags import units

RANKS = {"best", "fastest", "quickest", "top"}
INSTANCES = {"cloud", "instance", "instances", "vm", "vms"}
DRIVES = {"disk", "disks", "drive", "drives", "ssd", "ssds"}
SPEED = re.compile(
    r"(?<![\w.,])(?P<number>[0-9][0-9.,\s]{0,20}(?:k|m|thousand|million|mio)?)\s*tps(?!\w)", re.IGNORECASE | re.ASCII
)

VERSUS = re.compile(r"\s+(?:vs|versus)\b\.?\s*", re.IGNORECASE)

Link = tuple[str, str]  # text and address


@dataclass(frozen=True)
class SpeedQuestion:
    """A speed that a search names, and the rest of the search without it."""

    tps: int
    rest: str

    @property
    def links(self) -> list[Link]:
        """Return the pages that list results of at least this speed."""
        home, cloud = reverse("home"), reverse("category", args=[Category.CLOUD.value])
        return [
            ("drives", f"{home}?{urlencode({LOAD: self.tps})}"),
            ("cloud instances, one device", f"{cloud}?{urlencode({DEVICE_TPS.name: self.tps})}"),
            ("cloud instances, all devices together", f"{cloud}?{urlencode({TPS.name: self.tps})}"),
        ]


def speed_question(query: str) -> SpeedQuestion | None:
    """Return the speed that a search names as a number with tps, such as "1m tps"; None without one."""
    found = SPEED.search(query)
    plain = plain_number(found["number"].strip()) if found else None
    if found is None or plain is None or not plain.isdigit() or not 1 <= int(plain) <= LARGEST_TPS:
        return None
    rest = f"{query[: found.start()]} {query[found.end() :]}"
    return SpeedQuestion(int(plain), rest if words_of(rest) else "")


def comparison_link(query: str) -> Link | None:
    """Return the comparison that a search such as "pm9a3 vs 9400" asks for, which finds drives by these names."""
    names = [name.strip() for name in VERSUS.split(query)]
    if not FEWEST <= len(names) <= MOST or not all(map(words_of, names)) or len(set(names)) < len(names):
        return None
    return listed(names), f"{reverse('compare')}?{urlencode([('drive', name) for name in names])}"


@dataclass(frozen=True)
class FastestDrives:
    """The drives of a search such as "best aws instance", the fastest per device first, and the table of all."""

    products: Sequence[Mapping[str, Any]]
    sentence: str
    link: Link | None


def fastest_drives(store: ColumnStore, query: str, profile: Sequence[Limit]) -> FastestDrives | None:
    """Return the drives of a search that has words for a rank or a kind of drive; None for another search.

    The other words must match drives, or name several makers. Words for cloud instances exclude drives.
    """
    words = [word for word in dict.fromkeys(words_of(query)) if word not in IGNORED]
    names = [word for word in words if word not in RANKS | INSTANCES | DRIVES]
    makers = named_makers(store, names)
    if not names or (len(names) == len(words) and len(makers) < FEWEST):
        return None
    category, vendor, rows = store.columns["category"], store.columns["vendor"], store.rows_by_product
    if len(makers) < FEWEST:
        slugs = found_slugs(store, lookup(store, " ".join(names)))
    else:
        slugs = [slug for slug, own in rows.items() if vendor.word(own[0]) in makers]
    if INSTANCES & set(words):
        slugs = [slug for slug in slugs if category.word(rows[slug][0]) == Category.CLOUD]
    if not slugs:
        return None
    is_cloud = all(category.word(rows[slug][0]) == Category.CLOUD for slug in slugs)
    counted = units.counted(len(slugs), "cloud instance" if is_cloud else "drive")
    first = f", the first {SHOWN_AT_MOST} shown" if len(slugs) > SHOWN_AT_MOST else ""
    sentence = format_html("{} found for <bdi>{}</bdi>, the fastest per device first{}.", counted, query, first)
    products = fastest_per_device(store, slugs, profile)[:SHOWN_AT_MOST]
    table = _cloud_table(store, slugs) if is_cloud else None  # None also for several providers
    return FastestDrives(products, sentence, table or makers_table(store, makers))


def named_makers(store: ColumnStore, words: Sequence[str]) -> list[str]:
    """Return the makers that words name, also by another name; none if a word names no maker."""
    named = [part for word in words for part in MAKERS.get(word, word).split()]
    makers = [maker for maker in store.columns["vendor"].words if words_of(maker) and {*words_of(maker)} <= {*named}]
    return makers if {*named} <= {word for maker in makers for word in words_of(maker)} else []


def makers_table(store: ColumnStore, makers: Sequence[str]) -> Link | None:
    """Return the table of all results of these makers; None without any."""
    if not makers:
        return None
    options = dict(zip(store.columns["vendor"].words, store.columns["vendor"].options, strict=True))
    address = f"{reverse('drives')}?{urlencode({VENDOR.name: SEPARATOR.join(options[maker] for maker in makers)})}"
    return f"All results of {listed(makers)} in one table", address


def _cloud_table(store: ColumnStore, slugs: Sequence[str]) -> Link | None:
    """Return the table of the cloud instances of one provider, the fastest device first; None for several providers."""
    vendor, rows = store.columns["vendor"], store.rows_by_product
    names = {vendor.word(rows[slug][0]) for slug in slugs}
    if len(names) != 1:
        return None
    (name,) = names
    option = dict(zip(vendor.words, vendor.options, strict=True))[name]
    query = urlencode({PROVIDER.name: option, "sort": DEVICE_FIRST.parameter, "within": "only"})
    address = f"{reverse('category', args=[Category.CLOUD.value])}?{query}"
    return f"All results of {name} by speed of one device", address
