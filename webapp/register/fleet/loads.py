"""The load of the reader compared with each model of a list: its tested speed, its slow reads and its rating."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from django.db.models import TextChoices
from django.http import QueryDict

from results.models import Product
from results.models.categories import SYSTEMS
from results.rules.endurance import is_within_rating, needed_dwpd, sustained_tps
from webapp.register.drives.limit_check import LimitCheck
from webapp.register.drives.store.column_store import current_store
from webapp.register.drives.store.ranking import current_rows, on_drives, speeds_of
from webapp.register.fleet.answers import FleetAnswer, State
from webapp.register.http.files import Value
from webapp.register.http.query_params import labelled_errors
from webapp.register.limits.profile import current_limits
from webapp.register.limits.reader_limits import YourLimits, limit_name, limits_parameter, load_parameter, read_limits
from webapp.register.tables.columns import share_code
from webapp.register.tables.endurance_gap import digits
from webapp.register.tables.sentences import product_name
from webapp.templatetags import units

DEVICES_NAMED = 3


class AtLoad(TextChoices):
    """What the results of a model show about a load of one drive."""

    YES = "yes", "yes"
    NO = "no", "no: over a limit"
    NOT_TESTED = "not-tested", "not tested at it"
    NO_RESULT = "no-result", "no result"


@dataclass(frozen=True)
class FleetQuestion:
    """The load of each drive in tps, 0 without one, and the limits of slow reads."""

    tps: int
    limits: YourLimits

    @property
    def tps_text(self) -> str:
        """Return the load as the form shows it; empty without one."""
        return units.count(self.tps) if self.tps else ""

    @property
    def drive_query(self) -> str:
        """Return the query of links to drives."""
        return self.limits.query_with_load(self.tps)


def usual_question() -> FleetQuestion:
    """Return the question of an empty form."""
    return FleetQuestion(0, read_limits({}, current_limits()))


def question_names() -> list[str]:
    """Return the names of the parameters of a question."""
    return ["tps", *(limit_name(limit.threshold_us) for limit in current_limits())]


def read_question(form: QueryDict) -> FleetQuestion:
    """Return the load and the limits of a form. Raises ParameterError."""
    load, limits = load_parameter("tps", "Load of each drive"), limits_parameter(current_limits())
    with labelled_errors((load, limits)):
        return FleetQuestion(load.read(form), limits.read(form))


@dataclass(frozen=True)
class ModelAtLoad:
    """One model of a list with its fastest result within the limits; without one, its fastest result."""

    answer: FleetAnswer
    question: FleetQuestion
    speed: float
    is_within: bool
    shares: Mapping[int, str]

    @property
    def products(self) -> Sequence[Product]:
        """Return the products of the model, which have the same capacity."""
        return self.answer.products

    @property
    def name(self) -> str:
        """Return the name of the drive in the register, or in the list if it is unknown."""
        return product_name(self.products[0]) if self.products else self.answer.drive.model or "not reported"

    @property
    def slug(self) -> str:
        """Return the drive's name in addresses; empty if it is unknown."""
        return self.products[0].slug if self.products else ""

    @property
    def at_load(self) -> AtLoad:
        """Return what the tests show about the load."""
        if not self.speed:
            return AtLoad.NO_RESULT
        if self.speed < self.question.tps:
            return AtLoad.NOT_TESTED
        return AtLoad.YES if self.is_within else AtLoad.NO

    @property
    def speed_text(self) -> str:
        """Return the tested speed of one device, tps; empty without a result."""
        return units.count(round(self.speed)) if self.speed else ""

    @property
    def slow_reads(self) -> list[str]:
        """Return the shares of slow reads at the tested speed, each with its threshold."""
        return [f"{text}{units.NBSP}% over {units.threshold(us)}" for us, text in self.shares.items() if text]

    @property
    def _rated(self) -> Decimal | None:
        product = self.products[0] if self.products else None
        return None if product is None or product.category in SYSTEMS else product.endurance_dwpd

    @property
    def _capacity_gb(self) -> int | None:
        return self.products[0].capacity_gb if self.products else None

    @property
    def sustained(self) -> Fraction | None:
        """Return the speed that the rating allows, tps; None if it is not known."""
        return sustained_tps(self._rated, self._capacity_gb)

    @property
    def needed(self) -> Fraction | None:
        """Return the drive writes per day that the load takes; None if that is not known."""
        return needed_dwpd(Fraction(self.question.tps), self._capacity_gb) if self.question.tps else None

    @property
    def is_rated_for_load(self) -> bool | None:
        """Return whether the rating allows the load; None if that is not known."""
        needed, rated = self.needed, self._rated
        return None if needed is None or rated is None else is_within_rating(needed, rated)

    @property
    def sustained_text(self) -> str:
        """Return the speed that the rating allows with three digits; empty if it is not known."""
        return digits(self.sustained)

    @property
    def endurance(self) -> str:
        """Return what the load takes of the rating; empty if that is not known."""
        allows = self.is_rated_for_load
        if allows is None:
            return ""
        return f"{digits(self.needed)} of {units.decimal(self._rated)} DWPD, {'within' if allows else 'over'}"

    @property
    def values(self) -> dict[str, Value]:
        """Return the columns of the export."""
        sustained, needed = self.sustained_text, digits(self.needed)
        return {
            "load_tps": self.question.tps or None,
            "tested_tps": round(self.speed) or None,
            "is_within_limits": self.is_within if self.speed else None,
            "at_load": self.at_load.value if self.question.tps else None,
            "sustained_tps": int(sustained.replace(",", "")) if sustained else None,
            "needed_dwpd": needed.replace(",", "") or None,
            "rated_dwpd": None if self._rated is None else units.decimal(self._rated),
        }


LOAD_FIELDS = ("load_tps", "tested_tps", "is_within_limits", "at_load", "sustained_tps", "needed_dwpd", "rated_dwpd")


def models_at_load(found: Sequence[FleetAnswer], question: FleetQuestion) -> list[ModelAtLoad]:
    """Return each answer with its fastest result, in the same order."""
    store = current_store()
    passes = LimitCheck(store, question.limits).passes
    shown, speeds, by_slug = current_rows(store) & on_drives(store), speeds_of(store), store.rows_by_product

    def read(answer: FleetAnswer) -> ModelAtLoad:
        is_one_model = len({product.capacity_gb for product in answer.products}) == 1
        slugs = [product.slug for product in answer.products] if is_one_model else []
        rows = [row for slug in slugs for row in by_slug.get(slug, ()) if shown >> row & 1 and speeds[row]]
        if not rows:
            return ModelAtLoad(answer, question, 0, is_within=False, shares={})
        row = max(rows, key=lambda each: (_order(each, passes, speeds[each], question.tps), speeds[each]))
        shares = {us: store.columns[share_code(us)].word(row) for us in question.limits.by_threshold}
        return ModelAtLoad(answer, question, speeds[row], is_within=bool(passes >> row & 1), shares=shares)

    return [read(answer) for answer in found]


def _order(row: int, passes: int, speed: float, load_tps: int) -> int:
    """Return which results come first: within the limits at the load, then over a limit at it, then slower ones."""
    is_within = bool(passes >> row & 1)
    if load_tps and speed >= load_tps:
        return 3 if is_within else 2
    return 1 if is_within else 0


def as_models(found: Sequence[FleetAnswer]) -> list[FleetAnswer]:
    """Return identical drives as one answer with their number and their devices."""
    groups: dict[tuple[object, ...], list[FleetAnswer]] = {}
    for each in found:
        drive = each.drive
        key = (drive.vendor, drive.model, drive.firmware, each.capacity, each.state, each.sentence)
        groups.setdefault(key, []).append(each)
    return [_joined(group) for group in groups.values()]


def _joined(group: Sequence[FleetAnswer]) -> FleetAnswer:
    first = group[0]
    devices = [each.drive.device for each in group if each.drive.device]
    more = f" and {units.count(len(devices) - DEVICES_NAMED)} more" if len(devices) > DEVICES_NAMED else ""
    device = ", ".join(devices[:DEVICES_NAMED]) + more
    return replace(first, drive=replace(first.drive, device=device, count=sum(each.drive.count for each in group)))


def distinct_models(found: Sequence[ModelAtLoad]) -> list[ModelAtLoad]:
    """Return each model once, with the number of its drives: firmware makes no difference to tests and rating."""
    groups: dict[tuple[object, ...], list[ModelAtLoad]] = {}
    for each in found:
        drive = each.answer.drive
        slugs = tuple(product.slug for product in each.products)
        groups.setdefault(slugs or (drive.vendor, drive.model, each.answer.capacity), []).append(each)
    return [
        replace(group[0], answer=_joined([each.answer for each in group])) if group[1:] else group[0]
        for group in groups.values()
    ]


def load_answer(models: Sequence[ModelAtLoad]) -> str:
    """Return how many models were tested at the load, and how many are rated for it; empty without a load."""
    if not models or not models[0].question.tps:
        return ""
    tested = sum(each.at_load == AtLoad.YES for each in models)
    rated = sum(each.is_rated_for_load is True for each in models)
    unknown = sum(not each.products and each.answer.state == State.UNKNOWN for each in models)
    count = units.counted(len(models), "model")
    verb, are = "was" if tested < 2 else "were", "is" if rated < 2 else "are"
    answer = (
        f"{units.count(tested) if tested else 'None'} of {count} {verb} tested at your load within your limits; "
        f"{units.count(rated) if rated else 'none'} {are} rated for it."
    )
    return f"{answer} The register does not know {units.count(unknown)} of them." if unknown else answer
