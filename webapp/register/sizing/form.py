"""The sizing form as it was typed: given back where a field of it was not understood, and without its empty prices."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.http import HttpRequest, QueryDict

from results.rules.act.limits import Limit
from webapp.register.http.parameter_errors import ParameterError
from webapp.register.limits.reader_limits import limit_name
from webapp.register.sizing.query import FIELDS, PRICE, PRICE_PREFIX, SORTS, Field, taken_for


@dataclass(frozen=True)
class TypedLimit:
    """A limit's field as it was typed, in the shape of those that were understood."""

    threshold_us: int
    name: str
    text: str
    error: str


@dataclass(frozen=True)
class TypedPrice:
    """The price of one drive as it was typed; `drive` is the product's slug."""

    drive: str
    name: str
    text: str
    error: str


@dataclass(frozen=True)
class TypedForm:
    """Every field with its text, what is wrong with it, and what an empty one means; `drive` is the steps' own."""

    fields: list[tuple[Field, str, str, str]]
    limits: list[TypedLimit]
    prices: list[TypedPrice]
    sort: str
    drive: str


def is_of_the_form(name: str, profile: Iterable[Limit]) -> bool:
    """Tell whether a parameter is a field that people type into."""
    own = {field.name for field in FIELDS} | {limit_name(limit.threshold_us) for limit in profile}
    return name in own or PRICE.fullmatch(name) is not None


def typed_form(request: HttpRequest, refused: ParameterError, profile: Iterable[Limit]) -> TypedForm:
    """Return the form as it was sent; what it left empty has its usual value."""

    def text(name: str, usual: str) -> str:
        return request.GET.get(name, "").strip() or usual

    def error(name: str) -> str:
        return refused.expected if name == refused.parameter else ""

    limits = [(limit.threshold_us, limit_name(limit.threshold_us), limit.limit_pct) for limit in profile]
    prices = [name for name in request.GET if PRICE.fullmatch(name) and text(name, "")]
    return TypedForm(
        [
            (field, text(field.name, field.default), error(field.name), taken_for(request.GET, field))
            for field in FIELDS
        ],
        [TypedLimit(threshold_us, name, text(name, f"{usual:f}"), error(name)) for threshold_us, name, usual in limits],
        [TypedPrice(name.removeprefix(PRICE_PREFIX), name, text(name, ""), error(name)) for name in prices],
        text("sort", SORTS[0]),
        text("drive", ""),
    )


def without_empty_prices(query: QueryDict) -> str | None:
    """Return the query without prices that nobody gave; None where it has no such.

    A form without script sends every field of its table.
    """
    empty = [name for name in query if PRICE.fullmatch(name) and not "".join(query.getlist(name)).strip()]
    if not empty:
        return None
    kept = query.copy()
    for name in empty:
        del kept[name]
    return f"?{kept.urlencode()}"
