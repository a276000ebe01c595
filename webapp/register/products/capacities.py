"""One model's capacities side by side: it should not be assumed that a larger drive is faster."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from results.models import Product, Run
from results.rules.act.limits import Limit
from webapp.register.tables.columns import product_of, ranked_tps
from webapp.register.tables.sentences import HOW
from webapp.templatetags import units


@dataclass(frozen=True)
class Capacity:
    """One capacity of a model: the fastest of its runs that keeps within the limits, and how that was taken."""

    product: Product
    is_this: bool
    speed: str
    how: str


def capacities_of(product: Product, limits: Sequence[Limit], *, is_own: bool = False) -> list[Capacity]:
    """Return the capacities of a product's model by size, its own among them; nothing where there is one alone.

    `is_own`: the limits are a reader's own.
    """
    if product.capacity_gb is None:
        return []
    same = Product.objects.public().filter(category=product.category, vendor=product.vendor, model=product.model)
    sizes = list(same.filter(capacity_gb__isnull=False).order_by("capacity_gb", "part_number"))
    if len(sizes) < 2:
        return []
    runs = Run.objects.standing().rated().on_drives().filter(product__in=sizes)
    within = runs.within(limits, is_own=is_own).select_related("product")
    fastest = _fastest(within)
    return [_capacity(each, fastest.get(each.pk), is_this=each.pk == product.pk) for each in sizes]


def _fastest(runs: Iterable[Run]) -> dict[int, Run]:
    """Return the run of each product whose single devices were fastest: four are not faster than each of them."""
    found: dict[int, Run] = {}
    for run in runs:
        known = found.setdefault(product_of(run).pk, run)
        if ranked_tps(run) > ranked_tps(known):
            found[product_of(run).pk] = run
    return found


def _capacity(product: Product, fastest: Run | None, *, is_this: bool) -> Capacity:
    speed, how = (units.decimal(fastest.tps), HOW[fastest.statistic]) if fastest else ("", "")  # type: ignore[index]
    if fastest and (fastest.device_count or 1) > 1:
        how += f", {fastest.device_count} devices together"
    return Capacity(product, is_this, speed, how)
