"""What a reader's load means for a product: whether a result within the limits reaches it, and its endurance rating."""

from collections.abc import Sequence
from fractions import Fraction

from results.models import Product, Run
from results.models.categories import SYSTEMS
from results.rules.endurance import is_within_rating, needed_dwpd
from webapp.register.limits.reader_limits import YourLimits
from webapp.register.product_pages.answer import short_noun
from webapp.register.product_pages.headline import passing_runs, shown_tps
from webapp.register.tables.endurance_gap import digits
from webapp.templatetags import units


def load_sentences(product: Product, rows: Sequence[Run], limits: YourLimits, load_tps: int) -> str:
    """Return the sentences about a load; empty without a load."""
    if not load_tps:
        return ""
    return " ".join(filter(None, (_speed_sentence(product, rows, limits, load_tps), _endurance(product, load_tps))))


def _speed_sentence(product: Product, rows: Sequence[Run], limits: YourLimits, load_tps: int) -> str:
    """Return how the load compares with the fastest result within the limits."""
    this, load = short_noun(product.category), f"{units.count(load_tps)} tps"
    within = "within your limits"
    fastest = max((shown_tps(run) for run in passing_runs(rows, limits)), default=None)
    if fastest is None:
        return f"This {this} has no result {within}, so none for your load of {load}."
    if fastest >= load_tps:
        return f"This {this} was tested at your load of {load} {within}."
    at = f"at {units.count(round(fastest))} tps"
    return f"This {this} was not tested at your load of {load}: its fastest result {within} is {at}."


def _endurance(product: Product, load_tps: int) -> str:
    """Return what the load takes of the endurance rating; empty if a fact is missing."""
    needed, rated = needed_dwpd(Fraction(load_tps), product.capacity_gb), product.endurance_dwpd
    if product.category in SYSTEMS or needed is None or rated is None:
        return ""
    verb = "allows" if is_within_rating(needed, rated) else "does not allow"
    return f"Its rating {verb} your load ({digits(needed)} of {units.decimal(rated)} DWPD)."
