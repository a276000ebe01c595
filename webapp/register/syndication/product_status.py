"""Where a product stands in the register, in few words that are true alone: for badges and pictures."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Case, F, OuterRef, Subquery, When
from django.http import Http404

from results.models import Certificate, Event, Product, Run, Statistic, Tier, Verdict, Visibility
from results.models.querysets import RunQuerySet
from webapp.register.limits.virtual_devices import VIRTUAL_DEVICE_MARK
from webapp.register.runs.verdict import OUTCOME_WORDS
from webapp.register.tables.marks import TIERS_RISING, run_tier_mark
from webapp.register.tables.sentences import speed_words
from webapp.templatetags import units

NO_CERTIFICATE = "no certificate"


@dataclass(frozen=True)
class Standing:
    """What is said first; tier, rule version and date as far as there are any; whether it warns."""

    words: str
    tier: str
    rule: str
    date: str
    warns: bool = False

    @property
    def details(self) -> str:
        """Who vouches, by which rules, since when."""
        return ", ".join(part for part in (self.tier, self.rule, self.date) if part)


def standing_of(product: Product) -> Standing:
    """Return the product's highest certificate, else what its runs say without one."""
    certificates = product.certificates.select_related("profile").prefetch_related("runs__product")
    found = certificates.filter(state=Certificate.State.STANDING).first()
    if found is not None:
        words = f"certified {units.nx(found.nx_load)} on {units.counted(found.device_count, 'device')}"
        return Standing(words, _weakest_tier(found), _rule(found.profile.rule_version), _day(found.issued_at))
    withdrawn = certificates.order_by("-withdrawn_at").first()
    if withdrawn is not None:
        rule = _rule(withdrawn.profile.rule_version)
        return Standing("certificate withdrawn", "", rule, _day(withdrawn.withdrawn_at), warns=True)
    return _without_certificate(product)


def _weakest_tier(certificate: Certificate) -> str:
    """A certificate is vouched for as far as the least of its runs is."""
    runs = sorted(certificate.runs.all(), key=lambda run: TIERS_RISING.index(Tier(run.tier)))
    return run_tier_mark(runs[0]).word if runs else ""


def _without_certificate(product: Product) -> Standing:
    runs = Run.objects.filter(product=product).public().rated()
    best = _best_of(runs.standing().on_drives())
    if best is not None:
        return _of_run(best)
    gone = runs.on_drives().filter(visibility=Visibility.WITHDRAWN).order_by("-pk").first()
    if gone is None and runs.standing().exists():
        return Standing(f"{VIRTUAL_DEVICE_MARK}, {NO_CERTIFICATE}", "", "", "")
    if gone is None:
        return Standing(f"{NO_CERTIFICATE}, no standing result", "", "", "")
    told = Event.objects.filter(subject_type="run", subject_id=gone.public_id, kind="run-withdrawn").last()
    return Standing("result withdrawn", run_tier_mark(gone).word, "", _day(told.at if told else None), warns=True)


def _best_of(standing: RunQuerySet) -> Run | None:
    """Return the run that speaks for a product: of one statistic, a passing one first, then the fastest that is known.

    Runs that were judged from their logs come before what is published: speeds of two statistics are not compared.
    """
    verdicts = Verdict.objects.filter(run=OuterRef("pk")).order_by("-created_at", "-id")
    ranked = (
        standing.with_ranked_tps()
        .annotate(newest_outcome=Subquery(verdicts.values("outcome")[:1]))
        .annotate(
            statistic_rank=Case(
                When(statistic=Statistic.WORST_SLICE, then=0), When(statistic=Statistic.OVERALL, then=1), default=2
            ),
            outcome_rank=Case(When(newest_outcome=Verdict.Outcome.PASS, then=0), default=1),
        )
    )
    return ranked.order_by("statistic_rank", "outcome_rank", F("ranked_tps").desc(nulls_last=True), "pk").first()


def _of_run(run: Run) -> Standing:
    speed, tier = speed_words(run), run_tier_mark(run).word
    if run.statistic == Statistic.STEADY_AS_PUBLISHED:
        return Standing(f"as published: {speed}, {NO_CERTIFICATE}", tier, "", _day(run.published_at))
    verdict = run.verdicts.select_related("profile").first()
    if verdict is None:
        return Standing(f"not judged: {speed}, {NO_CERTIFICATE}", tier, "", _day(run.published_at))
    outcome = Verdict.Outcome(verdict.outcome)
    words = f"{OUTCOME_WORDS[outcome]} at {speed}, {NO_CERTIFICATE}"
    rule = _rule(verdict.profile.rule_version)
    return Standing(words, tier, rule, _day(run.published_at or verdict.created_at), warns=outcome == "fail")


def _rule(version: int) -> str:
    return f"rule version {version}"


def _day(at: datetime | None) -> str:
    return f"{at:%-d %B %Y}" if at else "date not stated"


def public_product(slug: str) -> Product:
    """Return the product, where everyone may see one of its runs."""
    found = Product.objects.public().filter(slug=slug).first()
    if found is None:
        raise Http404(f"No drive is named {slug}.")
    return found
