"""The question of the home page: which drives sustain a load within latency limits. Read from the address."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from django.http import QueryDict
from django.utils.http import urlencode

from results.models import Category, Statistic
from results.models.categories import OF_DRIVES, SYSTEMS
from results.rules.act.limits import Limit
from results.rules.plural import listed
from webapp.register.drives.filters import CAPACITY_RANGE, DEVICE_TPS, DWPD, TPS, Filter
from webapp.register.drives.query import SEPARATOR, THRESHOLD, THRESHOLDS_US, numbers_parameter
from webapp.register.http.query_params import Parameter, known_codes, read_parameters, word
from webapp.register.limits.reader_limits import LOAD, YourLimits, has_plain_load, limits_parameter, load_parameter
from webapp.templatetags import units

EXAMPLE_TPS = 500_000  # of the question without parameters; 0 means any speed
FILTERS = (*CAPACITY_RANGE, DWPD)  # of the table that the form also has
FILTER_WORDS = {"min_tb": "at least {} TB", "max_tb": "at most {} TB", "min_dwpd": "at least {} DWPD"}
USUAL = (Category.NVME_FLASH.value,)


@dataclass(frozen=True)
class HomeQuestion:
    """A question: the categories, the speed of one drive, the limits, and what the charts show."""

    categories: tuple[str, ...]
    tps: int
    limits: YourLimits
    threshold: str = THRESHOLD
    statistic: str = ""
    numbers: tuple[tuple[str, str], ...] = ()  # of FILTERS, by name, as addresses have them

    @property
    def filters(self) -> list[tuple[Filter, str]]:
        """Return each filter of the form with its number, empty if it is not set."""
        return [(each, dict(self.numbers).get(each.name, "")) for each in FILTERS]

    @property
    def threshold_us(self) -> int:
        """Return the threshold of the charts."""
        return THRESHOLDS_US[self.threshold]

    @property
    def kind(self) -> str:
        """Return the words for the categories: as the form names them."""
        labels = {tuple(codes.split(SEPARATOR)): label for codes, label in drive_choices()}
        kind = labels.get(self.categories, "drives of the chosen categories")
        required = [FILTER_WORDS[name].format(units.decimal(Decimal(text))) for name, text in self.numbers]
        return " ".join([kind, *(["with", listed(required)] if required else [])])

    @property
    def tps_text(self) -> str:
        """Return the speed as the form shows it."""
        return units.count(self.tps)

    @property
    def category_parameter(self) -> str:
        """Return the categories as an address has them."""
        return SEPARATOR.join(self.categories)

    def address(self, *, threshold: str = "", statistic: str = "") -> str:
        """Return the address of the same question with another threshold or statistic, without defaults."""
        chosen = threshold or self.threshold
        parameters = {
            "category": "" if self.categories == USUAL else self.category_parameter,
            LOAD: "" if self.tps == EXAMPLE_TPS else str(self.tps),
            **dict(self.numbers),
            **self.limits.parameters,
            "threshold": "" if chosen == THRESHOLD else chosen,
            "statistic": statistic or self.statistic,
        }
        return "?" + urlencode({name: text for name, text in parameters.items() if text})

    @property
    def own_tps(self) -> int:
        """Return the speed as links to drives have it: 0 for the example, which no reader has entered."""
        return 0 if self.tps == EXAMPLE_TPS else self.tps

    @property
    def drive_query(self) -> str:
        """Return the query of links to drives: the reader's load and own limits."""
        return self.limits.query_with_load(self.own_tps)

    @property
    def table_query(self) -> str:
        """Return the query of the table of all categories that lists the same drives."""
        speed = {self.speed_filter: str(self.tps)} if self.tps else {}
        sort = {"sort": "-device_tps" if self.speed_filter == DEVICE_TPS.name else "-tps"}
        return self.query_of_results(speed | {"within": "only"} | sort)

    @property
    def choices(self) -> list[tuple[str, str]]:
        """Return codes and label of the categories that the form offers, and of those in the address."""
        choices = drive_choices()
        is_offered = any(codes == self.category_parameter for codes, _ in choices)
        return choices if is_offered else [*choices, (self.category_parameter, "drives of the chosen categories")]

    @property
    def speed_filter(self) -> str:
        """Return the filter of the table for the speed: of one drive, or of a whole system."""
        return (TPS if set(self.categories) <= set(SYSTEMS) else DEVICE_TPS).name

    def query_of_results(self, more: Mapping[str, str]) -> str:
        """Return the query of the table of all categories for the same categories, limits and charts, and `more`."""
        parameters = {"category": self.category_parameter, **dict(self.numbers), **self.limits.parameters, **more}
        charts = {"threshold": "" if self.threshold == THRESHOLD else self.threshold, "statistic": self.statistic}
        return "?" + urlencode(parameters | {name: text for name, text in charts.items() if text})


def drive_choices() -> list[tuple[str, str]]:
    """Return codes and label of the categories that have a speed per drive: all kinds of drives first, then each."""
    kinds = [category for category in Category if category in OF_DRIVES]
    own = [(category.value, f"{category.label} drives") for category in kinds]
    networked = (Category.NETWORKED.value, "networked systems")
    return [(SEPARATOR.join(category.value for category in kinds), "drives of all kinds"), *own, networked]


def has_plain_numbers(query: Mapping[str, str], question: HomeQuestion) -> bool:
    """Return whether an address has all numbers in digits or not at all, not as 500k or 3.2 TB."""
    are_plain = all(query.get(each.name, "").strip() in {"", text} for each, text in question.filters)
    return are_plain and has_plain_load(query, question.tps)


def read_question(query: QueryDict, profile: Iterable[Limit]) -> HomeQuestion:
    """Return the question of an address. Raises ParameterError for a parameter or value that the page does not accept.

    An empty speed means the usual one, so that the form and an address without parameters ask the same.
    """
    parameters = (
        Parameter("categories", {"category": "Category"}, _categories),
        load_parameter("tps", "Speed of one drive, at least", default=EXAMPLE_TPS),
        limits_parameter(profile),
        numbers_parameter(FILTERS),
        word("threshold", THRESHOLDS_US, "Threshold of the chart"),
        word("statistic", ("", *Statistic.values), "Statistic of the chart"),
    )
    return HomeQuestion(**read_parameters(query, parameters))


def _categories(given: Mapping[str, str]) -> tuple[str, ...]:
    codes = [code for code in given.get("category", "").split(SEPARATOR) if code]
    found = known_codes("category", codes, Category.values)
    return tuple(code for code in Category.values if code in found) or USUAL
