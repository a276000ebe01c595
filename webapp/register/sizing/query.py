"""Query of the sizing page: load, data, cluster, limits and prices; and the form as typed, for correction."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from django.http import HttpRequest, QueryDict

from results.rules.act.limits import Limit
from results.rules.sizing import Demand
from webapp.register.http.parameter_errors import ParameterError
from webapp.register.http.query_params import FORMS, Given, given_of, number_of, one_of, whole_number_of
from webapp.register.limits.reader_limits import YourLimits, limit_name, limit_names, read_limits
from webapp.templatetags import units

PRICE_PREFIX = "price-"
SLUG = re.compile(r"[a-z0-9_-]{1,120}")
PRICE = re.compile(PRICE_PREFIX + SLUG.pattern)
TB = 10**12


@dataclass(frozen=True)
class Field:
    """One number of the form: its label, range, and default value."""

    name: str
    label: str
    unit: str
    default: str
    least: str
    most: str
    is_whole: bool = False
    note: str = ""

    @property
    def default_text(self) -> str:
        """The default value with thousands separated."""
        return units.decimal(Decimal(self.default))


FIELDS = (
    Field("reads", "Reads", "/s", "500000", "0", "1000000000000"),
    Field("writes", "Writes", "/s", "125000", "0", "1000000000000"),
    Field("object", "Object", "bytes", "1536", "1", "1000000000", is_whole=True),
    Field("data", "Data, one copy", "TB", "20", "0", "1000000000"),
    Field("copies", "Copies", "", "2", "1", "100", is_whole=True, note="replication factor"),
    Field("usable", "Usable share of a drive", "%", "50", "1", "100"),
    Field("defrag", "Defrag threshold", "%", "50", "0", "99"),
    Field("per_node", "Drives per node", "", "4", "1", "1000", is_whole=True),
    Field("spare", "Spare nodes", "", "1", "0", "100000", is_whole=True, note="may fail"),
    Field("life", "Life", "years", "5", "0.1", "100"),
    Field("warranty", "Warranty", "years", "5", "0.1", "100", note="5 years assumed"),
)
NAMES = (*(field.name for field in FIELDS), "drive", "sort", "format")
SORTS = ("fewest", "cheapest", "name")


@dataclass(frozen=True)
class SizingQuestion:
    """A sizing query; `prices` are those of one drive by product slug; `given` has the values for the form."""

    demand: Demand
    limits: YourLimits
    prices: dict[str, Fraction]
    drive: str
    sort: str
    form: str
    given: dict[str, str]

    @property
    def named_drives(self) -> dict[str, str]:
        """The parameters that name a drive, with the slug of the drive."""
        priced = {f"{PRICE_PREFIX}{slug}": slug for slug in self.prices}
        return priced | ({"drive": self.drive} if self.drive else {})


def read_sizing_question(query: QueryDict, profile: tuple[Limit, ...]) -> SizingQuestion:
    """Return the query with defaults for missing values. Raises ParameterError for an invalid parameter."""
    prices = [name for name in query if PRICE.fullmatch(name)]
    given = given_of(query, (*NAMES, *limit_names(profile), *prices))
    numbers = {field.name: _number(given, field) for field in FIELDS}
    return SizingQuestion(
        demand=_demand(numbers),
        limits=read_limits(given, profile),
        prices={
            name.removeprefix(PRICE_PREFIX): price for name in prices if (price := _price(given, name)) is not None
        },
        drive=given.get("drive", ""),
        sort=one_of(given, "sort", SORTS),
        form=one_of(given, "format", FORMS),
        given={field.name: given.get(field.name, "").strip() or field.default for field in FIELDS},
    )


def taken_for(query: QueryDict, field: Field) -> str:
    """Return the note about the default of a field that was sent empty; empty for other fields."""
    is_empty = field.name in query and not "".join(query.getlist(field.name)).strip()
    return f"empty, so {field.default_text} is used" if is_empty else ""


def _number(given: Given, field: Field) -> Fraction:
    if field.is_whole:
        value: int | Decimal | None = whole_number_of(given, field.name, int(field.least), int(field.most))
    else:
        value = number_of(given, field.name, field.least, field.most)
    return Fraction(Decimal(field.default) if value is None else value)


def _price(given: Given, name: str) -> Fraction | None:
    price = number_of(given, name, "0", "1000000000")
    return None if price is None else Fraction(price)


def _demand(numbers: dict[str, Fraction]) -> Demand:
    return Demand(
        reads_per_s=numbers["reads"],
        writes_per_s=numbers["writes"],
        object_bytes=int(numbers["object"]),
        data_bytes=numbers["data"] * TB,
        replication_factor=int(numbers["copies"]),
        usable_ratio=numbers["usable"] / 100,
        defrag_ratio=numbers["defrag"] / 100,
        drives_per_node=int(numbers["per_node"]),
        spare_nodes=int(numbers["spare"]),
        life_years=numbers["life"],
        warranty_years=numbers["warranty"],
    )


@dataclass(frozen=True)
class TypedLimit:
    """The field of a limit as typed, with the same attributes as a valid one."""

    threshold_us: int
    name: str
    text: str
    error: str


@dataclass(frozen=True)
class TypedPrice:
    """The price of one drive as typed; `drive` is the product's slug."""

    drive: str
    name: str
    text: str
    error: str


@dataclass(frozen=True)
class TypedForm:
    """All fields with their text, errors and notes; `drive` is the drive whose steps are shown."""

    fields: list[tuple[Field, str, str, str]]
    limits: list[TypedLimit]
    prices: list[TypedPrice]
    sort: str
    drive: str


def is_of_the_form(name: str, profile: Iterable[Limit]) -> bool:
    """Return whether a parameter is a field of the form."""
    own = {field.name for field in FIELDS} | {limit_name(limit.threshold_us) for limit in profile}
    return name in own or PRICE.fullmatch(name) is not None


def typed_form(request: HttpRequest, refused: ParameterError, profile: Iterable[Limit]) -> TypedForm:
    """Return the form as sent, with defaults for empty fields."""

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
    """Return the query without empty prices; None if there are none.

    Without scripts, the form sends every price field of its table.
    """
    empty = [name for name in query if PRICE.fullmatch(name) and not "".join(query.getlist(name)).strip()]
    if not empty:
        return None
    shorter = query.copy()
    for name in empty:
        del shorter[name]
    return f"?{shorter.urlencode()}"
