"""The marks of tables: how close a share is to its limit, and the bars of a tier. Drawn with SVG attributes only."""

from dataclasses import dataclass
from decimal import Decimal

from results.models import Run, Tier

TRACK_UNITS = 44
STRONG_FROM = Decimal("0.9")  # of the limit
ABOVE_ALL = Decimal(2)  # of the limit: the track is full long before
TIERS_RISING = (Tier.PUBLISHED, Tier.VENDOR_REPORTED, Tier.REVIEWED, Tier.LAB_VERIFIED)
TIER_MEANINGS = {
    Tier.PUBLISHED: "figures from a public page; no log",
    Tier.VENDOR_REPORTED: "log stored, not reviewed",
    Tier.REVIEWED: "log checked by a second person",
    Tier.LAB_VERIFIED: "run by a lab of the register",
}
AEROSPIKE = "Aerospike"  # who ran the published page's own tests


@dataclass(frozen=True)
class NearnessMark:
    """A track that ends at the limit and is filled up to the share, with an open box beyond it if the share is over."""

    fill_units: str
    is_strong: bool
    is_over: bool


def nearness_mark(share_pct: Decimal, limit_pct: Decimal, *, is_over: bool) -> NearnessMark:
    """Return the mark of a share; any share reaches a limit of zero."""
    ratio = share_pct / limit_pct if limit_pct else ABOVE_ALL * (share_pct > 0)
    filled = min(ratio, Decimal(1)) * TRACK_UNITS
    units = f"{filled:.1f}" if filled >= Decimal("0.05") else ""
    return NearnessMark(units, is_strong=is_over or ratio >= STRONG_FROM, is_over=is_over)


@dataclass(frozen=True)
class TierBar:
    """One of the four rising bars."""

    x: str
    y: str
    height: str
    is_filled: bool


@dataclass(frozen=True)
class TierMark:
    """Who vouches for a run: bars, always with their word."""

    bars: tuple[TierBar, ...]
    word: str


def tier_mark(tier: str, word: str | None = None) -> TierMark:
    """Return the mark of a tier: 1 to 4 bars filled."""
    filled = TIERS_RISING.index(Tier(tier)) + 1
    heights = (Decimal("2.6"), Decimal("5.0"), Decimal("7.4"), Decimal("9.8"))
    bars = tuple(
        TierBar(x=f"{5 * place}.5", y=str(Decimal("10.4") - height), height=str(height), is_filled=place < filled)
        for place, height in enumerate(heights)
    )
    return TierMark(bars, word or Tier(tier).label)


def tier_meanings() -> list[tuple[TierMark, str]]:
    """Return each tier with its meaning."""
    return [(tier_mark(tier), meaning) for tier, meaning in TIER_MEANINGS.items()]


def run_tier_mark(run: Run) -> TierMark:
    """Return the mark of a run's tier; for published runs with the tester, as the published page has it."""
    return tier_mark(run.tier, run_tier_word(run))


def run_tier_word(run: Run) -> str:
    """Return the word of a run's tier alone."""
    return f"published, {tested_by(run.source)}" if run.tier == Tier.PUBLISHED else str(Tier(run.tier).label)


def tested_by(source: str) -> str:
    """Return who ran a published test: Aerospike, the maker, or not reported."""
    if not source:
        return "source not stated"
    return AEROSPIKE if source == AEROSPIKE else "maker"
