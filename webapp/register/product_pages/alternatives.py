"""Other drives next to a drive: better ones within the same limits, similar ones, and the capacities of its model.

No drive is in two of the lists, and a capacity of the model is only in the list of capacities.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any

from django.urls import reverse
from django.utils.http import urlencode
from django.utils.safestring import SafeString

from results.models import Category, Product, Run
from results.models.categories import OF_DRIVES, SYSTEMS
from results.rules.act.alternatives import EnduranceClass, Figures, alternatives_to
from results.rules.endurance import needed_dwpd, sustained_tps
from results.rules.plural import listed
from webapp.register.drives.filters import DEVICE_TPS
from webapp.register.drives.query import SEPARATOR
from webapp.register.landscape.marks import Fill, fill_of
from webapp.register.landscape.page_svg import glyph_html
from webapp.register.limits.reader_limits import YourLimits
from webapp.register.product_pages.answer import noun, short_noun
from webapp.register.product_pages.comparable import ComparableDrive, Comparison
from webapp.register.svg.marks import symbol_of
from webapp.register.tables.columns import device_tps, ranked_tps, share_code, share_of
from webapp.register.tables.endurance_gap import digits
from webapp.register.tables.groups import group_label, group_of
from webapp.templatetags import units

COMPARED_AT_MOST = 6  # drives that the page of comparisons shows side by side
CLASS_WORDS = {
    EnduranceClass.LOW: "less than 2 DWPD",
    EnduranceClass.MEDIUM: "2 to less than 5 DWPD",
    EnduranceClass.HIGH: "5 DWPD or more",
    EnduranceClass.UNRATED: "no endurance rating",
}


@dataclass(frozen=True)
class AlternativeRow:
    """One other drive with its figures, as texts; `kind` names its category if it differs."""

    glyph: SafeString
    name: str
    address: str
    speed: str
    share: str
    sustained: str
    needed: str
    rated: str
    kind: str = ""


@dataclass(frozen=True)
class AlternativeTable:
    """The rows of one table of other drives. A column is left out if no row has a value in it.

    On a phone, a column with one value in all rows is left out, too; `common_sentence` then says the value once.
    """

    rows: Sequence[AlternativeRow]
    threshold: str

    @property
    def has_sustained(self) -> bool:
        """Return whether a row has a speed that its endurance rating allows."""
        return any(row.sustained for row in self.rows)

    @property
    def has_needed(self) -> bool:
        """Return whether a row has the endurance that its speed needs, or its rating."""
        return any(row.needed or row.rated for row in self.rows)

    @property
    def has_rated(self) -> bool:
        """Return whether a row has an endurance rating."""
        return any(row.rated for row in self.rows)

    @property
    def columns_count(self) -> int:
        """Return the number of columns."""
        return 3 + self.has_sustained + self.has_needed

    @property
    def common(self) -> dict[str, str]:
        """Return the values that all of several rows have in common, by the name of the column."""
        if len(self.rows) < 2:
            return {}
        found = {name: {getattr(row, name) for row in self.rows} for name in ("share", "sustained")}
        return {name: values.pop() for name, values in found.items() if len(values) == 1 and "" not in values}

    @property
    def common_sentence(self) -> str:
        """Return the values that all rows have in common; empty without any."""
        texts = {
            "share": "{}\N{NO-BREAK SPACE}% of reads over " + self.threshold,
            "sustained": "a rating that allows {}\N{NO-BREAK SPACE}tps",
        }
        found = [texts[name].format(value) for name, value in self.common.items()]
        return f"All of these have {listed(found)}." if found else ""


@dataclass(frozen=True)
class OtherDrives:
    """The lists of better and similar drives, each with a sentence about it.

    `has_ratings`: drives, not systems. `better_table` has the rows of `better` and of `enduring`.

    `better_shown` and `enduring_shown` state how many are shown, if not all; `better_address` is then that of a list.
    """

    better_sentence: str
    better: Sequence[AlternativeRow]
    better_shown: str
    better_address: str
    enduring: Sequence[AlternativeRow]
    enduring_shown: str
    similar_sentence: str
    similar: Sequence[AlternativeRow]
    has_ratings: bool
    better_table: AlternativeTable
    similar_table: AlternativeTable


def other_drives(comparison: Comparison, limits: YourLimits, *, is_historical: bool) -> OtherDrives:
    """Return the better and the similar drives of a comparison, without other capacities of the same model."""
    this = comparison.this
    drives = {drive.slug: drive for drive in (*comparison.everywhere, *comparison.others) if drive.model != this.model}
    everywhere = [drive.figures for drive in comparison.everywhere if drive.slug in drives]
    category = [drive.figures for drive in comparison.others if drive.slug in drives]
    found = alternatives_to(this.figures, everywhere, category)

    def rows(figures: Iterable[Figures]) -> list[AlternativeRow]:
        return [_row(drives[each.key], comparison, limits) for each in figures]

    short = short_noun(this.category)
    is_mixed = any(drives[each.key].category != this.category for each in found.better)
    better_shown = _shown(len(found.better), found.better_count)
    nouns = noun(this.category, comparison.group, is_historical=is_historical)
    better, enduring, similar = (rows(each) for each in (found.better, found.enduring, found.similar))
    threshold = units.threshold(limits.fields[0].threshold_us) if limits.fields else ""
    return OtherDrives(
        better_sentence=_better_sentence(found.better_count, found.enduring_count, short, is_mixed=is_mixed),
        better=better,
        better_shown=better_shown,
        better_address=_list_of_better(comparison, limits) if better_shown else "",
        enduring=enduring,
        enduring_shown=_shown(len(found.enduring), found.enduring_count),
        similar_sentence=_similar_sentence(this, nouns) if found.similar else "",
        similar=similar,
        has_ratings=this.category not in SYSTEMS,
        better_table=AlternativeTable([*better, *enduring], threshold),
        similar_table=AlternativeTable(similar, threshold),
    )


def _shown(shown: int, all_of_them: int) -> str:
    return f"{shown} of {units.count(all_of_them)} shown" if shown < all_of_them else ""


def _list_of_better(comparison: Comparison, limits: YourLimits) -> str:
    """Return the address of the list that begins with the better drives: at least as fast, with no more slow reads."""
    this = comparison.this
    kinds = [this.category] if this.category in SYSTEMS else [each.value for each in Category if each in OF_DRIVES]
    threshold_us = limits.fields[0].threshold_us if limits.fields else 1000
    query = {
        "category": SEPARATOR.join(kinds),
        DEVICE_TPS.name: str(floor(this.tps)),
        share_code(threshold_us).replace("pct_over_", "max_"): this.share_text,
        "within": "only",
        **limits.parameters,
    }
    return f"{reverse('drives')}?{urlencode(query)}"


def _better_sentence(better: int, enduring: int, short: str, *, is_mixed: bool) -> str:
    """Return how many drives are better, and of how many others the rating allows a higher speed."""
    if better:
        verb = "is" if better == 1 else "are"
        kinds = " of all categories" if is_mixed else ""
        drives = f"{units.counted(better, short)}{kinds}"
        first = f"{drives} {verb} at least as fast with no more slow reads, and better in one of the two."
    else:
        first = f"No comparable {short} of another model is faster with no more slow reads, or as fast with fewer."
    if not enduring:
        return first
    if enduring == 1:
        return f"{first} The endurance rating of 1 other {short} allows a higher speed."
    return f"{first} The endurance ratings of {units.count(enduring)} other {short}s allow a higher speed."


def _similar_sentence(this: ComparableDrive, nouns: str) -> str:
    """Return which drives are similar, and their order."""
    if this.category in SYSTEMS:
        return f"These comparable {nouns} are nearest in speed; the nearest is first."
    return (
        f"These comparable {nouns} with {CLASS_WORDS[this.endurance]} are nearest in speed and capacity; the nearest "
        "is first. Nearness is the ratio of the speeds times the ratio of the capacities."
    )


def _row(drive: ComparableDrive, comparison: Comparison, limits: YourLimits) -> AlternativeRow:
    return AlternativeRow(
        glyph=glyph_html(symbol_of(drive.endurance_dwpd, drive.capacity_gb), fill_of(comparison.group)),
        name=drive.name,
        address=reverse("product", args=[drive.slug]) + limits.query,
        speed=units.count(drive.tps),
        share=drive.share_text,
        sustained=digits(drive.sustained),
        needed=digits(needed_dwpd(Fraction(drive.tps), drive.capacity_gb)),
        rated=units.decimal(drive.endurance_dwpd),
        kind="" if drive.category == comparison.this.category else Category(drive.category).label,
    )


def capacities_of(product: Product, limits: YourLimits) -> list[dict[str, Any]]:
    """Return the capacities of a product's model by size, including its own; empty if there is only one.

    `is_mixed`: the results were not all measured in the same way, so that each row must state how.
    """
    if product.capacity_gb is None:
        return []
    same = Product.objects.public().filter(category=product.category, vendor=product.vendor, model=product.model)
    sizes = list(same.filter(capacity_gb__isnull=False).order_by("capacity_gb", "part_number"))
    if len(sizes) < 2:
        return []
    runs = Run.objects.listed().rated().on_drives().filter(product__in=sizes)
    within = runs.within(limits.limits, is_own=limits.is_own).select_related("product").prefetch_related("shares")
    fastest: dict[int | None, Run] = {}
    for run in sorted(within, key=lambda run: (-ranked_tps(run), run.pk)):
        fastest.setdefault(run.product_id, run)
    found = [_capacity(each, fastest.get(each.pk), limits, is_this=each.pk == product.pk) for each in sizes]
    is_mixed = len({each["how"] for each in found if each["how"]}) > 1
    return [each | {"is_mixed": is_mixed} for each in found]


def _capacity(product: Product, fastest: Run | None, limits: YourLimits, *, is_this: bool) -> dict[str, Any]:
    """Return one capacity of a model: its fastest run within the limits, and how that run was measured.

    The speed is that of one device or of a whole system, as in the other lists.
    """
    capacity_gb, rating = product.capacity_gb, product.endurance_dwpd
    shown = {
        "product": product,
        "glyph": glyph_html(symbol_of(rating, capacity_gb), fill_of(group_of(fastest)) if fastest else Fill.UNRANKED),
        "is_this": is_this,
        "sustained": digits(sustained_tps(rating, capacity_gb)),
    }
    if fastest is None:
        return shown | {"speed": "", "share": "", "needed": "", "how": ""}
    share = share_of(fastest, limits.fields[0].threshold_us)
    tps = ranked_tps(fastest)
    return shown | {
        "speed": units.count(round(tps)) if tps else "not reported",
        "share": units.share(share.printed, share.over_count) if share else "",
        "needed": digits(needed_dwpd(device_tps(fastest), capacity_gb)),
        "how": group_label(group_of(fastest)),
    }


def capacities_address(capacities: Sequence[dict[str, Any]], limits: YourLimits) -> str:
    """Return the address of the comparison of a model's capacities; of many, the product's own and those before it."""
    own = next((place for place, each in enumerate(capacities) if each["is_this"]), 0)
    end = max(own + 1, COMPARED_AT_MOST)
    slugs = [each["product"].slug for each in capacities[end - COMPARED_AT_MOST : end]]
    return f"{reverse('compare')}?{urlencode([*(('drive', slug) for slug in slugs), *limits.parameters.items()])}"
