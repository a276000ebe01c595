"""Query of the sizing page: load, data, cluster, limits and prices; and the form as typed, for correction."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from django.http import QueryDict

from results.rules.act.limits import Limit
from results.rules.sizing import Demand
from webapp.register.http.query_params import FORMAT, Parameter, ParameterError, number, read_parameters, word
from webapp.register.limits.reader_limits import YourLimits, limit_name, limits_parameter
from webapp.templatetags import units

PRICE_PREFIX = "price-"
SLUG = re.compile(r"[a-z0-9_-]{1,120}")
PRICE = re.compile(PRICE_PREFIX + SLUG.pattern)


@dataclass(frozen=True)
class Field:
    """One number of the form: its label, range, and default value.

    `quantity` is its name in `Demand`, where it is in units of which the form's unit has `scale`.
    """

    name: str
    quantity: str
    label: str
    unit: str
    default: str
    least: str
    most: str
    is_whole: bool = False
    note: str = ""
    scale: Fraction = Fraction(1)

    @property
    def parameter(self) -> Parameter:
        """Return the parameter that it sends."""
        default = Decimal(self.default)
        return number(self.name, self.least, self.most, default=default, is_whole=self.is_whole)

    def scaled(self, number: Decimal | int) -> Any:
        """Return a number of the form as `Demand` has it."""
        return int(number) if self.is_whole else Fraction(number) * self.scale

    @property
    def default_text(self) -> str:
        """Return the default value with thousands separated."""
        return units.decimal(Decimal(self.default))


FIELDS = (
    Field("reads", "reads_per_s", "Reads", "/s", "500000", "0", "1000000000000"),
    Field("writes", "writes_per_s", "Writes", "/s", "125000", "0", "1000000000000"),
    Field("object", "object_bytes", "Object", "bytes", "1536", "1", "1000000000", is_whole=True),
    Field("data", "data_bytes", "Data, one copy", "TB", "20", "0", "1000000000", scale=Fraction(10**12)),
    Field("copies", "replication_factor", "Copies", "", "2", "1", "100", is_whole=True, note="replication factor"),
    Field("usable", "usable_ratio", "Usable share of a drive", "%", "50", "1", "100", scale=Fraction(1, 100)),
    Field("defrag", "defrag_ratio", "Defrag threshold", "%", "50", "0", "99", scale=Fraction(1, 100)),
    Field("per_node", "drives_per_node", "Drives per node", "", "4", "1", "1000", is_whole=True),
    Field("spare", "spare_nodes", "Spare nodes", "", "1", "0", "100000", is_whole=True, note="may fail"),
    Field("life", "life_years", "Life", "years", "5", "0.1", "100"),
    Field("warranty", "warranty_years", "Warranty", "years", "5", "0.1", "100", note="5 years assumed"),
)
SORTS = ("fewest", "cheapest", "name")


@dataclass(frozen=True)
class SizingQuestion:
    """A sizing query; `prices` are those of one drive by product slug."""

    demand: Demand
    limits: YourLimits
    prices: dict[str, Fraction]
    drive: str
    sort: str
    form: str

    @property
    def named_drives(self) -> dict[str, str]:
        """Return the parameters that name a drive, with the slug of the drive."""
        priced = {f"{PRICE_PREFIX}{slug}": slug for slug in self.prices}
        return priced | ({"drive": self.drive} if self.drive else {})


def read_sizing_question(query: QueryDict, profile: tuple[Limit, ...]) -> SizingQuestion:
    """Return the query with defaults for missing values. Raises ParameterError for an invalid parameter."""
    prices = [name for name in query if PRICE.fullmatch(name)]
    found = read_parameters(
        query,
        (
            *(field.parameter for field in FIELDS),
            Parameter("drive", ("drive",), lambda given: given.get("drive", "")),
            word("sort", SORTS),
            FORMAT,
            limits_parameter(profile),
            *(number(name, "0", "1000000000") for name in prices),
        ),
    )
    return SizingQuestion(
        demand=Demand(**{field.quantity: field.scaled(found[field.name]) for field in FIELDS}),
        limits=found["limits"],
        prices={name.removeprefix(PRICE_PREFIX): Fraction(found[name]) for name in prices if found[name] is not None},
        drive=found["drive"],
        sort=found["sort"],
        form=found["form"],
    )


def taken_for(query: QueryDict, field: Field) -> str:
    """Return the note about the default of a field that was sent empty; empty for other fields."""
    is_empty = field.name in query and not "".join(query.getlist(field.name)).strip()
    return f"empty, so {field.default_text} is used" if is_empty else ""


def is_of_the_form(name: str, profile: Iterable[Limit]) -> bool:
    """Return whether a parameter is a field of the form."""
    own = {field.name for field in FIELDS} | {limit_name(limit.threshold_us) for limit in profile}
    return name in own or PRICE.fullmatch(name) is not None


def form_context(query: QueryDict, refused: ParameterError | None = None) -> dict[str, Any]:
    """Return the fields of the form as sent, with defaults for empty ones and the error of the refused one."""
    return {
        "section": "sizing",
        "fields": [
            (field, typed_field(query, field.name, field.default, refused), taken_for(query, field)) for field in FIELDS
        ],
        "sort": query.get("sort", "").strip() or SORTS[0],
    }


def typed_field(query: QueryDict, name: str, usual: str, refused: ParameterError | None) -> dict[str, str]:
    """Return one field as sent: its name, its text and its error."""
    error = refused.expected if refused and name == refused.parameter else ""
    return {"name": name, "text": query.get(name, "").strip() or usual, "error": error}


def refused_context(query: QueryDict, refused: ParameterError, profile: Iterable[Limit]) -> dict[str, Any]:
    """Return the form as sent, for its template, with the error of the refused field."""
    limits = [
        typed_field(query, limit_name(limit.threshold_us), f"{limit.limit_pct:f}", refused)
        | {"threshold_us": limit.threshold_us}
        for limit in profile
    ]
    prices = [name for name in query if PRICE.fullmatch(name) and query.get(name, "").strip()]
    return form_context(query, refused) | {
        "refused": str(refused),
        "limits": {"fields": limits},
        "typed_prices": [
            typed_field(query, name, "", refused) | {"drive": name.removeprefix(PRICE_PREFIX)} for name in prices
        ],
        "typed_drive": query.get("drive", "").strip(),
    }


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
