"""The evidence of a product: logs, who checked them, the publication, and since when the register has the results."""

from collections.abc import Sequence

from results.access.mirrored_runs import is_mirrored
from results.catalogue.rows import CERTIFICATION_PAGE, PublishedSource, published_sources
from results.models import Run, Tier
from webapp.register.tables.marks import AEROSPIKE
from webapp.templatetags import units

CHECKS = {
    Tier.LAB_VERIFIED: "tested in a lab of the register",
    Tier.REVIEWED: "checked by a second person",
    Tier.VENDOR_REPORTED: "not yet checked by a reviewer",
}


def evidence_sentence(runs: Sequence[Run]) -> str:
    """Return what the figures of a product's current ACT runs rest on; empty without such a run."""
    if not runs:
        return ""
    published = [run for run in runs if run.tier == Tier.PUBLISHED]
    logged = [run for run in runs if run.tier != Tier.PUBLISHED]
    sentences = [_logged(logged, len(runs)), _published(published, len(runs)), _since(runs)]
    return " ".join(filter(None, sentences))


def publication_of(runs: Sequence[Run]) -> PublishedSource | None:
    """Return the publication that figures of these runs are from; None without such figures."""
    is_published = any(run.tier == Tier.PUBLISHED and run.catalogue_key for run in runs)
    return published_sources()[CERTIFICATION_PAGE] if is_published else None


def _logged(logged: Sequence[Run], count: int) -> str:
    if not logged:
        return ""
    reader = "Another register" if all(map(is_mirrored, logged)) else "The register"
    if len(logged) < count:
        logs = "the log" if len(logged) == 1 else "the logs"
        read = f"{logs} of {units.count(len(logged))} of {units.count(count)} results"
    else:
        read = "the log of the only result" if count == 1 else f"the logs of all {units.count(count)} results"
    return f"{reader} read {read}: {', '.join(_checks(logged))}."


def _checks(logged: Sequence[Run]) -> list[str]:
    """Return how the results were checked, with their numbers if there are several."""
    numbers = {tier: sum(run.tier == tier for run in logged) for tier in CHECKS}
    return [
        words if len(logged) == 1 else f"{units.count(numbers[tier])} {words}"
        for tier, words in CHECKS.items()
        if numbers[tier]
    ]


def _published(published: Sequence[Run], count: int) -> str:
    if not published:
        return ""
    testers = {_tester(run) for run in published}
    by = f" by {testers.pop()}" if len(testers) == 1 else ""
    if len(published) < count:
        return f"The other figures are as published{by}, without a log."
    of = "the only result" if count == 1 else f"any of the {units.count(count)} results"
    return f"The register has no log of {of}, so it did not check the figures: they are as published{by}."


def _tester(run: Run) -> str:
    if run.source == AEROSPIKE:
        return AEROSPIKE
    return "the maker" if run.source else "a source that names no tester"


def _since(runs: Sequence[Run]) -> str:
    dates = [at for run in runs if (at := run.published_at or run.created_at)]  # published ones are public at once
    if not dates:
        return ""
    newest = "In the register" if len(runs) == 1 else "The newest is in the register"
    return f"{newest} since {max(dates):%-d %B %Y}."
