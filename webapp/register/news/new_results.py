"""The new results of a month by category: their numbers, and the fastest of them as they were at its end."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.urls import reverse

from results.history import PUBLISHED
from results.models import RATED_WORKLOAD, Category, Event, Profile, Run, Tier, Verdict, Visibility
from results.rules.act.limits import Limit, is_share_within, parse_limits
from webapp.register.news.changes import STATES_SINCE
from webapp.register.news.events import between
from webapp.register.news.months import Month
from webapp.register.news.past_results import PastResult, PastResults
from webapp.register.tables import categories
from webapp.register.tables.columns import product_of, ranked_tps
from webapp.register.tables.sentences import run_name, speed_words


@dataclass(frozen=True)
class FastestResult:
    """The fastest new result of a category within the limits; `mark` says what became of it later."""

    run: Run
    name: str
    speed: str
    mark: str


@dataclass(frozen=True)
class CategoryLine:
    """The new results of a category. Those of publications and those of logs are not compared with each other.

    `historical_count` are those of drives that are historical today.
    """

    title: str
    address: str
    published_count: int
    logs_count: int
    historical_count: int
    fastest_published: FastestResult | None
    fastest_log: FastestResult | None


def category_lines(month: Month) -> list[CategoryLine]:
    """Return the categories with new results, in the order of the tables, in a fixed number of queries."""
    events = between(Event.objects.filter(kind=PUBLISHED, subject_type="run"), month.start, month.end)
    found = Run.objects.public().filter(public_id__in=events.values("subject_id")).order_by("pk")
    runs = list(found.select_related("product").prefetch_related("shares").defer("facts"))
    past, limits = PastResults(runs), _limits_before(month)
    by_category: dict[str, list[PastResult]] = defaultdict(list)
    for run in runs:
        by_category[product_of(run).category].append(past.at(run, month.end))
    return [_line(each, by_category[each], limits) for each in Category if by_category[each]]


def _line(category: Category, results: Sequence[PastResult], limits: tuple[Limit, ...]) -> CategoryLine:
    published = [each for each in results if each.run.tier == Tier.PUBLISHED]
    from_logs = [each for each in results if each.run.tier != Tier.PUBLISHED]
    return CategoryLine(
        title=categories.SPECS[category].title,
        address=reverse("category", args=[category.value]),
        published_count=len(published),
        logs_count=len(from_logs),
        historical_count=sum(product_of(each.run).historical for each in results),
        fastest_published=_fastest(each.run for each in published if _is_within(each, limits)),
        fastest_log=_fastest(each.run for each in from_logs if each.outcome == Verdict.Outcome.PASS),
    )


def _fastest(runs: Iterable[Run]) -> FastestResult | None:
    """Return the fastest result, by the speed of one device or of a whole system; of equal ones, the first."""
    rated = [run for run in runs if run.workload == RATED_WORKLOAD and not run.is_on_no_drive]
    # The speed of one device is unknown if a log does not report its number of devices.
    found = max((run for run in rated if ranked_tps(run)), key=ranked_tps, default=None)
    if found is None:
        return None
    mark = STATES_SINCE.get(Visibility(found.visibility), "")
    return FastestResult(found, run_name(found), speed_words(found), mark)


def _is_within(result: PastResult, limits: tuple[Limit, ...]) -> bool:
    """Return whether the percentages of a publication, which states no counts, were within the limits."""
    shares = result.shares
    if shares is None:
        shares = {share.threshold_us: share.share_pct for share in result.run.shares.all()}
    stated = [(shares[limit.threshold_us], limit.limit_pct) for limit in limits if limit.threshold_us in shares]
    return all(is_share_within(share_pct, limit_pct) for share_pct, limit_pct in stated)


def _limits_before(month: Month) -> tuple[Limit, ...]:
    """Return the limits of the newest profile of that time, so that a later version changes no earlier month."""
    versions = Profile.objects.filter(name=Profile.REGISTER).order_by("-rule_version")
    known = versions.filter(created_at__lt=month.end).first() or versions.last()
    return parse_limits(known.document) if known else ()
