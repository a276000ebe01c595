"""The limits that a reader sets instead of the profile's: read from the address, with their effect on results."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import ceil

from django.utils.http import urlencode

from results.models import Verdict
from results.rules.act.limits import Limit
from webapp.register.http.query_params import Parameter, ParameterError, whole_number_of
from webapp.register.http.typed_numbers import plain_number
from webapp.templatetags import units

PREFIX = "limit_"
LOAD = "min_device_tps"  # the reader's load of one drive, or of a whole system, tps
LARGEST_TPS = 1_000_000_000
PLACES = 9  # shares are stored rounded up to nine places, so a limit of nine places compares exactly
NAMED_AT_MOST = 5  # names in a sentence; others are counted
EXPECTED = f"a percentage from 0 to 100 with at most {PLACES} decimals, for example 0.5"


def limit_name(threshold_us: int) -> str:
    """Return the parameter of the limit on a threshold.

    >>> limit_name(1000), limit_name(256)
    ('limit_1ms', 'limit_256us')
    """
    return f"{PREFIX}{threshold_us}us" if threshold_us % 1000 else f"{PREFIX}{threshold_us // 1000}ms"


def read_percentage(name: str, text: str) -> Decimal:
    """Return a percentage. Raises ParameterError if the text is not one."""
    plain = plain_number(text, "%", PLACES)
    if plain is None or Decimal(plain) > 100:
        raise ParameterError(name, f"expected {EXPECTED}", text)
    return Decimal(plain)


@dataclass(frozen=True)
class LimitField:
    """One field of the form: the current limit, and the profile's."""

    threshold_us: int
    limit_pct: Decimal
    profile_pct: Decimal

    @property
    def name(self) -> str:
        """Return the name of its parameter."""
        return limit_name(self.threshold_us)

    @property
    def text(self) -> str:
        """Return the limit in percent, without trailing zeros."""
        return units.decimal(self.limit_pct)

    @property
    def profile_text(self) -> str:
        """Return the profile's limit, percent."""
        return units.decimal(self.profile_pct)

    @property
    def is_own(self) -> bool:
        """Return whether the limit differs from the profile's."""
        return self.limit_pct != self.profile_pct


@dataclass(frozen=True)
class YourLimits:
    """The limits that a page compares shares with: the profile's, or the reader's own for some thresholds."""

    fields: tuple[LimitField, ...] = ()

    @property
    def is_own(self) -> bool:
        """Return whether at least one limit differs from the profile's."""
        return any(field.is_own for field in self.fields)

    @property
    def by_threshold(self) -> dict[int, Decimal]:
        """Return the limits in percent by threshold in us."""
        return {field.threshold_us: field.limit_pct for field in self.fields}

    @property
    def limits(self) -> tuple[Limit, ...]:
        """Return the limits in the form that the rules use."""
        return tuple(Limit(field.threshold_us, field.limit_pct) for field in self.fields)

    @property
    def profile_by_threshold(self) -> dict[int, Decimal]:
        """Return the profile's limits in percent by threshold in us."""
        return {field.threshold_us: field.profile_pct for field in self.fields}

    @property
    def parameters(self) -> dict[str, str]:
        """Return the parameters of the limits that differ from the profile's."""
        return {field.name: field.text for field in self.fields if field.is_own}

    @property
    def query(self) -> str:
        """Return the query string of these limits; empty for the profile's."""
        return f"?{urlencode(self.parameters)}" if self.is_own else ""

    def query_with_load(self, load_tps: float | None) -> str:
        """Return the query string of a link to a drive: the reader's load, if there is one, and these limits."""
        load = {LOAD: str(ceil(load_tps))} if load_tps else {}
        return f"?{urlencode(load | self.parameters)}" if load else self.query

    @property
    def sentence(self) -> str:
        """Return the limits as text: at most 5 % over 1 ms, 1 % over 8 ms, 0.1 % over 64 ms."""
        parts = (f"{field.text}{units.NBSP}% over {units.threshold(field.threshold_us)}" for field in self.fields)
        return f"at most {', '.join(parts)}"


def read_limits(given: Mapping[str, str], profile: Iterable[Limit]) -> YourLimits:
    """Return the limits of an address; an empty field means the profile's limit. Raises ParameterError."""
    return YourLimits(tuple(_read_field(given, limit) for limit in profile))


def limits_parameter(profile: Iterable[Limit]) -> Parameter:
    """Declare the limits that a reader may set instead of a profile's."""
    limits = tuple(profile)
    labels = {limit_name(each.threshold_us): f"Percent over {units.threshold(each.threshold_us)}" for each in limits}
    return Parameter("limits", labels, lambda query: read_limits(query, limits))


def load_parameter(key: str, label: str, *, default: int = 0) -> Parameter:
    """Declare the reader's load, named by `key`: a whole speed of one drive or system; 0 means any speed."""

    def read(given: Mapping[str, str]) -> int:
        tps = whole_number_of(given, LOAD, 0, LARGEST_TPS)
        return default if tps is None else tps

    return Parameter(key, {LOAD: label}, read)


def has_plain_load(query: Mapping[str, str], load_tps: int) -> bool:
    """Return whether an address has the load in digits or not at all, not as 500k or 500,000."""
    return query.get(LOAD, "").strip() in {"", str(load_tps)}


def _read_field(given: Mapping[str, str], limit: Limit) -> LimitField:
    name = limit_name(limit.threshold_us)
    text = given.get(name, "").strip()
    limit_pct = read_percentage(name, text) if text else limit.limit_pct
    return LimitField(limit.threshold_us, limit_pct, limit.limit_pct)


@dataclass(frozen=True)
class LimitEvaluation:
    """The evaluation of a result: it passes the profile or the reader's limits, or a share is over the latter."""

    name: str
    passes_profile: bool
    passes_limits: bool
    is_over_limits: bool = False


def passes_limits(verdict: Verdict | None, *, is_over: bool) -> bool:
    """Return whether a result passes a reader's limits, given whether one of its shares is over them.

    A log passes no limits if its verdict has other reasons than shares: it is cut, damaged or shorter than the profile
    demands, or the program could not keep up.
    A published result, which has no verdict, is decided by its shares.
    """
    return not is_over and (verdict is None or bool(verdict.is_decided_by_limits))


@dataclass(frozen=True)
class Named:
    """The number of some results, and the names of the first few."""

    count: int
    first: list[str]


def changes_sentence(limits: YourLimits, results: Sequence[LimitEvaluation]) -> str:
    """Return how many results pass, and the names of those whose result differs from the profile's."""
    lost = [result.name for result in results if result.passes_profile and not result.passes_limits]
    won = [result.name for result in results if result.passes_limits and not result.passes_profile]
    passing = sum(result.passes_limits for result in results)
    return changed_sentence(limits, len(results), passing, _named(lost), _named(won))


def _named(names: list[str]) -> Named:
    return Named(len(names), names[:NAMED_AT_MOST])


def changed_sentence(limits: YourLimits, results_count: int, passing_count: int, lost: Named, won: Named) -> str:
    """Return the same sentence for counted results; `lost` pass only the profile, `won` only the reader's limits."""
    passing, count = units.count(passing_count), units.count(results_count)
    if not limits.is_own:
        return f"Within all limits: {passing} of {count} results."
    parts = [f"With your limits, {passing} of {count} pass"]
    parts += [f"{_that(lost, 'pass')} the profile {_verb(lost, 'fail')}: {_names(lost)}"] if lost.count else []
    parts += [f"{_that(won, 'fail')} the profile {_verb(won, 'pass')}: {_names(won)}"] if won.count else []
    parts += ["the same as with the profile"] if not lost.count and not won.count else []
    return "; ".join(parts) + "."


def _that(named: Named, verb: str) -> str:
    return f"{units.count(named.count)} that {_verb(named, verb)}"


def _verb(named: Named, verb: str) -> str:
    ending = {"pass": "es", "fail": "s"}[verb]
    return verb + (ending if named.count == 1 else "")


def _names(named: Named) -> str:
    more = named.count - len(named.first)
    return ", ".join(named.first) + (f" and {units.count(more)} more" if more > 0 else "")
