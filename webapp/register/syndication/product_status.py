"""Status of a product in a few words, for badges and pictures."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Case, F, OuterRef, Subquery, When
from django.http import Http404

from results.models import Certificate, Event, Product, Run, Statistic, Tier, Verdict, Visibility
from results.models.querysets import RunQuerySet
from webapp.register.limits.virtual_devices import VIRTUAL_DEVICE_MARK
from webapp.register.tables.marks import TIERS_RISING, run_tier_mark
from webapp.register.tables.sentences import speed_words
from webapp.templatetags import units

NO_CERTIFICATE = "no certificate"


@dataclass(frozen=True)
class ProductStatus:
    """The status in words; `details` are tier, rule version and date; `warns` colours it as a warning."""

    words: str
    details: str = ""
    warns: bool = False


def _details(tier: str, rule_version: int | None, at: datetime | None) -> str:
    """Return tier, rule version and date as one text, as far as there are any."""
    rule = "" if rule_version is None else f"rule version {rule_version}"
    day = f"{at:%-d %B %Y}" if at else "date not reported"
    return ", ".join(part for part in (tier, rule, day) if part)


def status_of(product: Product) -> ProductStatus:
    """Return the status by the product's highest certificate, otherwise by its runs."""
    certificates = product.certificates.select_related("profile").prefetch_related("runs__product")
    found = certificates.filter(state=Certificate.State.STANDING).first()
    if found is not None:
        words = f"certified {units.nx(found.nx_load)} on {units.counted(found.device_count, 'device')}"
        return ProductStatus(words, _details(_weakest_tier(found), found.profile.rule_version, found.issued_at))
    withdrawn = certificates.order_by("-withdrawn_at").first()
    if withdrawn is not None:
        details = _details("", withdrawn.profile.rule_version, withdrawn.withdrawn_at)
        return ProductStatus("certificate withdrawn", details, warns=True)
    return _without_certificate(product)


def _weakest_tier(certificate: Certificate) -> str:
    """Return the lowest tier of the certificate's runs."""
    runs = sorted(certificate.runs.all(), key=lambda run: TIERS_RISING.index(Tier(run.tier)))
    return run_tier_mark(runs[0]).word if runs else ""


def _without_certificate(product: Product) -> ProductStatus:
    runs = Run.objects.filter(product=product).public().rated()
    best = _best_of(runs.listed().on_drives())
    if best is not None:
        return _of_run(best)
    gone = runs.on_drives().filter(visibility=Visibility.WITHDRAWN).order_by("-pk").first()
    if gone is None and runs.listed().exists():
        return ProductStatus(f"{VIRTUAL_DEVICE_MARK}, {NO_CERTIFICATE}")
    if gone is None:
        return ProductStatus(f"{NO_CERTIFICATE}, no current result")
    event = Event.objects.filter(subject_type="run", subject_id=gone.public_id, kind="run-withdrawn").last()
    details = _details(run_tier_mark(gone).word, None, event.at if event else None)
    return ProductStatus("result withdrawn", details, warns=True)


def _best_of(current: RunQuerySet) -> Run | None:
    """Return the run that represents a product: by statistic, then a passing run, then the fastest.

    Runs judged from logs come before published ones, because speeds of two statistics are not comparable.
    """
    verdicts = Verdict.objects.filter(run=OuterRef("pk")).order_by("-created_at", "-id")
    ranked = (
        current.with_ranked_tps()
        .annotate(newest_outcome=Subquery(verdicts.values("outcome")[:1]))
        .annotate(
            statistic_rank=Case(
                When(statistic=Statistic.WORST_SLICE, then=0), When(statistic=Statistic.OVERALL, then=1), default=2
            ),
            outcome_rank=Case(When(newest_outcome=Verdict.Outcome.PASS, then=0), default=1),
        )
    )
    return ranked.order_by("statistic_rank", "outcome_rank", F("ranked_tps").desc(nulls_last=True), "pk").first()


def _of_run(run: Run) -> ProductStatus:
    speed, tier = speed_words(run), run_tier_mark(run).word
    if run.statistic == Statistic.STEADY_AS_PUBLISHED:
        return ProductStatus(f"as published: {speed}, {NO_CERTIFICATE}", _details(tier, None, run.published_at))
    verdict = run.verdicts.select_related("profile").first()
    if verdict is None:
        return ProductStatus(f"no verdict: {speed}, {NO_CERTIFICATE}", _details(tier, None, run.published_at))
    outcome = Verdict.Outcome(verdict.outcome)
    words = f"{outcome.label} at {speed}, {NO_CERTIFICATE}"
    details = _details(tier, verdict.profile.rule_version, run.published_at or verdict.created_at)
    return ProductStatus(words, details, warns=outcome == "fail")


def public_product(slug: str) -> Product:
    """Return the product if it has a public run. Raises Http404 otherwise."""
    found = Product.objects.public().filter(slug=slug).first()
    if found is None:
        raise Http404(f"There is no drive {slug}.")
    return found
