"""Rows of products and runs for tests that need no log."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import count
from typing import Any

from results.models import DriveInRun, Evidence, Preparation, Product, Profile, Reading, Run, Submission, Verdict
from tests.results.builders import make_organisation

numbers = count(1)
PASSES: dict[str, Any] = {
    "outcome": "pass",
    "headline": "passes: every slice within the limits",
    "histogram": "reads",
    "shares": [],
    "violations": [],
    "reasons": [],
}


def make_product(**fields: Any) -> Product:
    stated = {"slug": f"exemplar-{next(numbers)}", "category": "nvme-flash", "vendor": "Exemplar", "model": "EX4"}
    return Product.objects.create(**stated | {"capacity_gb": next(numbers)} | fields)


def make_run(product: Product, **fields: Any) -> Run:
    stated = {"tier": "reviewed", "visibility": "public", "statistic": "worst-slice", "predates_approvals": True}
    return Run.objects.create(product=product, **stated | fields)


def make_judged_run(product: Product, nx: int, outcome: str = "pass", **fields: Any) -> Run:
    """Return a run of one day at N on one device, read from a log and judged under the register's profile."""
    reads, writes = 2000 * nx, 1000 * nx
    stated: dict[str, Any] = {
        "reads_per_s": reads,
        "writes_per_s": writes,
        "tps": reads + writes,
        "nx_load": nx,
        "device_count": 1,
    }
    stated |= {"nx_load": nx, "duration_s": 86_400, "facts": {"stop": {"kind": "finished"}}} | from_a_log()
    run = make_run(product, **stated | fields)
    judge(run, outcome)
    return run


def judge(run: Run, outcome: str, **document: Any) -> Verdict:
    verdict_document = PASSES | {"outcome": outcome, "headline": f"{outcome} it is"} | document
    profile = Profile.objects.get(name="operational-database", rule_version=1)
    return Verdict.objects.create(
        run=run,
        profile=profile,
        outcome=outcome,
        headline=verdict_document["headline"],
        document=verdict_document,
        reader_version="0.1.0",
    )


def from_a_log() -> dict[str, Any]:
    """Return a submission and its finished reading as columns of a run; its bytes are not stored."""
    number = next(numbers)
    organisation = make_organisation(f"org-{number}")
    log = Evidence.objects.create(
        organisation=organisation, sha256=f"{number:064x}", size_bytes=1, filename=f"log-{number}"
    )
    submission = Submission.objects.create(organisation=organisation, origin="form", log=log)
    reading = Reading.objects.create(evidence=log, reader_version="0.1.0", state="done")
    return {"submission": submission, "reading": reading}


PREPARED_AT = datetime(2026, 11, 1, tzinfo=UTC)


def prepare(run: Run, key: str = "nvme:EX4:S1", **fields: Any) -> DriveInRun:
    """Record the drive of a run, its preparation on 1 November with evidence, and its start a day later."""
    preparation, _ = Preparation.objects.get_or_create(
        drive_key=key,
        defaults={
            "started_at": PREPARED_AT,
            "finished_at": PREPARED_AT + timedelta(hours=5),
            "evidence": run.submission.log if run.submission else None,
        },
    )
    Run.objects.filter(pk=run.pk).update(started_at=PREPARED_AT + timedelta(days=1))
    state: dict[str, Any] = {}
    for when in ("before", "after"):
        state |= {f"firmware_{when}": "FW1", f"over_provisioning_pct_{when}": Decimal(0), f"never_reset_{when}": True}
    return DriveInRun.objects.create(run=run, key=key, preparation=preparation, **state | fields)
