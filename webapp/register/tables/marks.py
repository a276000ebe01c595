"""Marks of tables: how close a share is to its limit, and the bars of a tier. your-limits.js draws the same."""

from dataclasses import dataclass
from decimal import Decimal
from functools import cache

from django.utils.safestring import SafeString

from results.models import Run, Tier
from webapp.register.tables.parts import fill

TRACK_UNITS = 44
SHORTEST_UNITS = 0.05
STRONG_FROM = 0.9  # of the limit
ABOVE_ALL = 2  # of the limit: the track is full long before
TIERS_RISING = (Tier.PUBLISHED, Tier.VENDOR_REPORTED, Tier.REVIEWED, Tier.LAB_VERIFIED)
BARS = len(TIERS_RISING)
TIER_MEANINGS = {
    Tier.PUBLISHED: "The figures are from a public page; the register has no log.",
    Tier.VENDOR_REPORTED: "The register has the log, but no reviewer has checked it.",
    Tier.REVIEWED: "A second person has checked the log.",
    Tier.LAB_VERIFIED: "A lab of the register ran the test.",
}
AEROSPIKE = "Aerospike"  # the publisher that ran the published page's own tests


@dataclass(frozen=True)
class NearnessMark:
    """A track that ends at the limit and is filled up to the share, with an open box beyond it if the share is over.

    `ratio` is the share over its limit.
    """

    ratio: Decimal | float
    is_over: bool

    @property
    def html(self) -> SafeString:
        """Return the mark as HTML."""
        return nearness_html(self.ratio, is_over=self.is_over)


def nearness_html(ratio: Decimal | float, *, is_over: bool) -> SafeString:
    """Return the mark of a share as HTML, given the share over its limit."""
    filled = min(ratio, 1) * TRACK_UNITS
    strength = "strong" if is_over or float(ratio) >= STRONG_FROM else "fill"
    return _filled_track(strength if filled >= SHORTEST_UNITS else "", f"{filled:.1f}", is_over)


@cache  # a page has hundreds, of at most 1,300 different ones
def _filled_track(strength: str, width: str, is_over: bool) -> SafeString:
    fill_html = fill("near-fill", strength=strength, width=width) if strength else ""
    return fill("near", fill_html=fill_html, beyond_html=fill("near-beyond") if is_over else "")


def nearness_mark(share_pct: Decimal, limit_pct: Decimal, *, is_over: bool) -> NearnessMark:
    """Return the mark of a share; any share reaches a limit of zero."""
    return NearnessMark(share_pct / limit_pct if limit_pct else ABOVE_ALL * (share_pct > 0), is_over)


@dataclass(frozen=True)
class TierMark:
    """The mark of a run's tier: one to four of four rising bars, always with their word."""

    tier: Tier
    word: str

    @property
    def html(self) -> SafeString:
        """Return the bars as HTML."""
        filled = TIERS_RISING.index(self.tier)
        return fill("tier", **{f"bar_{place + 1}": "on" if place <= filled else "off" for place in range(BARS)})


def tier_mark(tier: str, word: str | None = None) -> TierMark:
    """Return the mark of a tier, by default with its own word."""
    return TierMark(Tier(tier), word or Tier(tier).label)


def tier_code(word: str) -> str:
    """Return the tier of a tier's text: that of "published, maker" is "published"."""
    return word.partition(",")[0]


def tier_meanings() -> list[tuple[TierMark, str]]:
    """Return each tier with its meaning."""
    return [(tier_mark(tier), meaning) for tier, meaning in TIER_MEANINGS.items()]


def run_tier_mark(run: Run) -> TierMark:
    """Return the mark of a run's tier; for published runs with the tester, as the published page has it."""
    return tier_mark(run.tier, run_tier_word(run))


def run_tier_word(run: Run) -> str:
    """Return the word of a run's tier alone; for a published run with who ran the test."""
    if run.tier != Tier.PUBLISHED:
        return str(Tier(run.tier).label)
    tester = AEROSPIKE if run.source == AEROSPIKE else "maker"
    return f"published, {tester if run.source else 'source not stated'}"
