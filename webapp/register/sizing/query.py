"""Query of the sizing page: load, cluster, endurance, restrictions and limits; and the form as typed, for correction.

The browser keeps the prices (static/js/prices.js). Addresses with prices (`price-<product>`) keep working.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from functools import partial
from typing import Any

from django.http import QueryDict

from results.rules.act.limits import Limit
from results.rules.act.loads import printed_decimal
from results.rules.capacity import TOLERANCE_PCT
from results.rules.sizing import Demand
from webapp.register.http.query_params import FORMAT, Parameter, ParameterError, number, read_parameters, text, word
from webapp.register.http.typed_numbers import grouped_digits
from webapp.register.limits.reader_limits import YourLimits, limit_name, limits_parameter
from webapp.templatetags import units

PRICE_PREFIX = "price-"
SLUG = re.compile(r"[a-z0-9_-]{1,120}")
PRICE = re.compile(PRICE_PREFIX + SLUG.pattern)
LOAD, CLUSTER, ENDURANCE, WHICH = "Your load", "Cluster", "Endurance", "Which drives"  # parts of the form


class Kind(StrEnum):
    """The units that form a cluster: drives in nodes, or cloud instances, each of which is a node."""

    DRIVES = "drives"
    INSTANCES = "instances"

    @property
    def one(self) -> str:
        """Return the word for one of them."""
        return self.value.removesuffix("s")


@dataclass(frozen=True)
class Field:
    """One number of the form: its label, range, and default value, and the part of the form that has it.

    `quantity` is its name in `Demand` or `Restrictions`, where it is in units of which the form's unit has `scale`.
    The default of a restriction is empty: without it, nothing is left out.
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
    part: str = CLUSTER

    @property
    def parameter(self) -> Parameter:
        """Return the parameter that it sends."""
        default = Decimal(self.default) if self.default else None
        span = self.least, self.most
        return number(self.name, self.label, span, default=default, is_whole=self.is_whole, unit=self.unit)

    def scaled(self, number: Decimal | int) -> Any:
        """Return a number of the form as `Demand` has it."""
        return int(number) if self.is_whole else Fraction(number) * self.scale

    @property
    def default_text(self) -> str:
        """Return the default value with thousands separated; empty without one."""
        return units.decimal(Decimal(self.default)) if self.default else ""


FIELDS = (
    Field("reads", "reads_per_s", "Reads", "/s", "500000", "0", "1000000000000", part=LOAD),
    Field("writes", "writes_per_s", "Writes", "/s", "125000", "0", "1000000000000", part=LOAD),
    Field("object", "object_bytes", "Object", "bytes", "1536", "1", "1000000000", is_whole=True, part=LOAD),
    Field("data", "data_bytes", "Data, one copy", "TB", "20", "0", "1000000000", scale=Fraction(10**12), part=LOAD),
    Field("copies", "replication_factor", "Copies", "", "2", "1", "100", is_whole=True, note="replication factor"),
    Field("usable", "usable_ratio", "Usable share of a drive", "%", "50", "1", "100", scale=Fraction(1, 100)),
    Field("defrag", "defrag_ratio", "Defrag threshold", "%", "50", "0", "99", scale=Fraction(1, 100)),
    Field("use", "speed_ratio", "Use at most, of the tested speed", "%", "100", "1", "100", scale=Fraction(1, 100)),
    Field("per_node", "drives_per_node", "Drives per node", "", "4", "1", "1000", is_whole=True),
    Field("spare", "spare_nodes", "Spare nodes", "", "1", "0", "100000", is_whole=True, note="may fail"),
    Field("life", "life_years", "Life", "years", "5", "0.1", "100", part=ENDURANCE),
    Field("warranty", "warranty_years", "Warranty", "years", "5", "0.1", "100", note="5 years assumed", part=ENDURANCE),
)
_capacity = partial(
    Field,
    unit="TB",
    default="",
    least="0",
    most="1000000",
    scale=Fraction(10**12),
    note=f"\N{PLUS-MINUS SIGN}{TOLERANCE_PCT} %",
    part=WHICH,
)
RESTRICTIONS = (
    Field("margin", "least_margin", "Margin, at least", "%", "", "0", "100", scale=Fraction(1, 100), part=ENDURANCE),
    _capacity("min_tb", "least_bytes", "Capacity, from"),
    _capacity("max_tb", "most_bytes", "Capacity, to"),
)
SORTS = ("fewest", "cheapest", "name")


@dataclass(frozen=True)
class Restrictions:
    """The vendor (as in addresses), capacity and endurance margin that a drive must have; None requires nothing."""

    vendor: str = ""
    least_bytes: Fraction | None = None
    most_bytes: Fraction | None = None
    least_margin: Fraction | None = None

    @property
    def is_set(self) -> bool:
        """Return whether at least one restriction is set."""
        return self != Restrictions()


@dataclass(frozen=True)
class SizingQuestion:
    """A sizing query; `prices` are those of one drive by product slug."""

    demand: Demand
    limits: YourLimits
    prices: dict[str, Fraction]
    drive: str
    sort: str
    form: str
    kind: Kind = Kind.DRIVES
    restrictions: Restrictions = Restrictions()

    @property
    def assumptions(self) -> list[tuple[str, str]]:
        """Return the fields besides reads and writes that the answer depends on: name, and label with value."""
        of_drives = {"defrag", "per_node", "life", "warranty"}
        return [
            (field.name, f"{field.label.lower()} {_with_unit(field, self.demand)}")
            for field in FIELDS
            if field.name not in {"reads", "writes"} and (self.kind is Kind.DRIVES or field.name not in of_drives)
        ]

    @property
    def data_sentence(self) -> str:
        """Return the amount of data that the answer is for."""
        data, copies = (_with_unit(field, self.demand) for field in FIELDS if field.name in {"data", "copies"})
        in_copies = "a single copy" if copies == "1" else f"{copies} copies"
        return f"This is for {data} of your data, which the cluster stores in {in_copies}."

    @property
    def priced_drives(self) -> dict[str, str]:
        """Return the parameters of prices, with the slug of the drive that each names."""
        return {f"{PRICE_PREFIX}{slug}": slug for slug in self.prices}


def _with_unit(field: Field, demand: Demand) -> str:
    shown = printed_decimal(Fraction(getattr(demand, field.quantity)) / field.scale, 2)
    return f"{shown}{units.NBSP}{field.unit}" if field.unit else shown


def _price_names(query: QueryDict) -> list[str]:
    """Return the parameters of a query that are prices of a drive."""
    return [name for name in query if PRICE.fullmatch(name)]


def sizing_parameters(query: QueryDict, profile: tuple[Limit, ...]) -> tuple[Parameter, ...]:
    """Return the parameters of the page, with the prices of a query."""
    return (
        *(field.parameter for field in (*FIELDS, *RESTRICTIONS)),
        text("drive", "Steps of another drive or instance"),
        text("vendor", "Vendor"),
        word("of", tuple(Kind), "Cluster of", key="kind"),
        word("sort", SORTS, "Order"),
        FORMAT,
        limits_parameter(profile),
        *(number(name, _price_label(name), ("0", "1000000000")) for name in _price_names(query)),
    )


def _price_label(name: str) -> str:
    return f"Price of one {name.removeprefix(PRICE_PREFIX)}"


def read_sizing_question(query: QueryDict, parameters: Iterable[Parameter]) -> SizingQuestion:
    """Return the query with defaults for missing values; `parameters` are those of the page.

    Raises ParameterError for an invalid parameter.
    """
    prices, found = _price_names(query), read_parameters(query, parameters)
    restricted = {
        field.quantity: field.scaled(found[field.name]) for field in RESTRICTIONS if found[field.name] is not None
    }
    kind = Kind(found["kind"])
    demand = Demand(**{field.quantity: field.scaled(found[field.name]) for field in FIELDS})
    return SizingQuestion(
        demand=replace(demand, drives_per_node=1) if kind is Kind.INSTANCES else demand,
        limits=found["limits"],
        prices={name.removeprefix(PRICE_PREFIX): Fraction(found[name]) for name in prices if found[name] is not None},
        drive=found["drive"],
        sort=found["sort"],
        form=found["form"],
        kind=kind,
        restrictions=Restrictions(found["vendor"].strip(), **restricted),
    )


def taken_for(query: QueryDict, field: Field) -> str:
    """Return the note about the default of a field that was sent empty; empty for other fields."""
    is_empty = field.default and field.name in query and not "".join(query.getlist(field.name)).strip()
    return f"empty, so {field.default_text} is used" if is_empty else ""


def is_of_the_form(name: str, profile: Iterable[Limit]) -> bool:
    """Return whether a parameter is a field of the form."""
    own = {field.name for field in (*FIELDS, *RESTRICTIONS)} | {"vendor"}
    own |= {limit_name(limit.threshold_us) for limit in profile}
    return name in own or PRICE.fullmatch(name) is not None


def form_context(query: QueryDict, refused: ParameterError | None = None) -> dict[str, Any]:
    """Return the fields of the form as sent, with defaults for empty ones and the error of the refused one."""
    return {
        "section": "sizing",
        "parts": [_form_part(part, query, refused) for part in (LOAD, CLUSTER, ENDURANCE, WHICH)],
        "vendor": typed_field(query, "vendor", "", refused),
        "kind": query.get("of", "").strip() or Kind.DRIVES,
        "sort": query.get("sort", "").strip() or SORTS[0],
        "has_prices": any(PRICE.fullmatch(name) for name in query) or query.get("sort", "") == "cheapest",
    }


def _form_part(part: str, query: QueryDict, refused: ParameterError | None) -> dict[str, Any]:
    """Return one part of the form: its fields, and whether a reader changed one or must correct it."""
    fields = [
        (field, typed_field(query, field.name, field.default, refused), taken_for(query, field))
        for field in (*FIELDS, *RESTRICTIONS)
        if field.part == part
    ]
    own = part == WHICH and (query.get("vendor", "").strip() or query.get("of") == Kind.INSTANCES)
    changed = bool(own) or any(typed["error"] or typed["text"] != field.default for field, typed, _ in fields)
    fields = [(field, typed | {"text": grouped_digits(typed["text"])}, taken) for field, typed, taken in fields]
    return {"name": part, "has_kind": part == WHICH, "fields": fields, "is_first": part == LOAD, "is_open": changed}


RESTRICTING = frozenset({"vendor", *(field.name for field in RESTRICTIONS)})


def without_restrictions(query: QueryDict) -> str:
    """Return the address of the same query without restrictions."""
    wider = query.copy()
    for name in [name for name in wider if name in RESTRICTING or name == "format"]:
        del wider[name]
    return f"?{wider.urlencode()}"


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
        "refused": refused.sentence,
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
