"""What the register has and does not have yet, in sentences from counts of its public results."""

from dataclasses import dataclass

from django.db.models import Count, Q

from results.models import YCSB, Organisation, Run, Tier
from results.rules.plural import listed
from webapp.register.drives.store.column_store import current_store
from webapp.templatetags import units


@dataclass(frozen=True)
class Holdings:
    """The numbers of listed results: all, those with a log, those of the register's own labs, and those of YCSB."""

    all: int
    from_logs: int
    lab_verified: int
    ycsb: int

    @property
    def sentences(self) -> list[str]:
        """Return one sentence for each number."""
        if not self.all:
            return ["The register has no public result yet."]
        return [self._logs, self._labs, self._ycsb]

    @property
    def _logs(self) -> str:
        published = self.all - self.from_logs
        if not self.from_logs:
            return f"No public result has a log yet: all {units.count(self.all)} are figures from publications."
        verb = "has" if self.from_logs == 1 else "have"
        rest = f" The other {units.count(published)} are figures from publications." if published else ""
        return f"{units.count(self.from_logs)} of {units.counted(self.all, 'public result')} {verb} a log.{rest}"

    @property
    def _labs(self) -> str:
        if not self.lab_verified:
            return "No lab of the register has a public result yet."
        verb = "is" if self.lab_verified == 1 else "are"
        return f"{units.counted(self.lab_verified, 'result')} {verb} from a lab of the register."

    @property
    def _ycsb(self) -> str:
        if not self.ycsb:
            return "No YCSB run has a public result yet: the YCSB figures are from publications of vendors."
        return f"{units.counted(self.ycsb, 'result')} of YCSB {'has its' if self.ycsb == 1 else 'have their'} output."


def holdings() -> Holdings:
    """Return the numbers of listed results. Each process counts them once for each state of the register."""
    return current_store().cached("holdings", _count)


def _count() -> Holdings:
    """Count the listed results in one query."""
    from_logs = ~Q(tier=Tier.PUBLISHED)
    return Holdings(
        **Run.objects.listed().aggregate(
            all=Count("pk"),
            from_logs=Count("pk", filter=from_logs),
            lab_verified=Count("pk", filter=Q(tier=Tier.LAB_VERIFIED)),
            ycsb=Count("pk", filter=from_logs & Q(workload=YCSB)),
        )
    )


def senders_sentence() -> str:
    """Return which organisations sent the logs of listed results; the pages of these results name them too."""
    senders = current_store().cached("senders of listed results", _senders)
    found = list(Organisation.objects.filter(pk__in=senders).order_by("name").values_list("name", flat=True))
    if not found:
        return "No organisation has a public result from a log yet."
    return f"The logs of public results are from {listed(found)}."


def _senders() -> list[int]:
    """Return the keys of the organisations that sent a listed result."""
    runs = Run.objects.listed().filter(submission__isnull=False)
    return list(runs.order_by("submission__organisation").values_list("submission__organisation", flat=True).distinct())
