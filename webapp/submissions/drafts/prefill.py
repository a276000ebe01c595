"""Facts about the drive that the files of a draft state: the form starts with them."""

from typing import Any

from django.db import models
from django.db.models import QuerySet

from results.ingest.rows import VIRTUAL
from results.models import Organisation, Product, Submission
from results.reader.process import Document
from webapp.submissions.review_warnings import GB_BYTES, is_near

Facts = dict[str, Any]


class FactsOrigin(models.TextChoices):
    """Where the facts come from that the form starts with."""

    NONE = "", "The files do not name the drive. State it here."
    SIDE_FILE = "side-file", "The side file names the drive. Check what is filled in."
    LOG_HEADER = "log-header", "The header of the log states the size of the device. Check what is filled in."


def stated_facts(document: Document, organisation: Organisation) -> tuple[Facts, FactsOrigin]:
    """Return the facts for the form, and where they come from."""
    drives = _drives(document)
    facts: Facts
    if drives:
        facts = {"model": _common(drives, "model"), "firmware": _common(drives, "firmware")}
        facts["capacity_gb"] = _capacity_gb([drive.get("size_bytes") for drive in drives])
        origin = FactsOrigin.SIDE_FILE
    else:
        sizes = [device.get("size_bytes") for run in document["runs"] for device in run.get("devices", [])]
        facts, origin = {"capacity_gb": _capacity_gb(sizes)}, FactsOrigin.LOG_HEADER
    known = {name: value for name, value in facts.items() if value}
    if not known:
        return {}, FactsOrigin.NONE
    return known | _product_facts(known, organisation), origin


def _drives(document: Document) -> list[Document]:
    """Return the physical drives of all side files."""
    sides = [run.get("side_file") or {} for run in document["runs"]]
    return [drive for side in sides for drive in side.get("drives", []) if drive["kind"] != VIRTUAL]


def _common(drives: list[Document], name: str) -> str:
    """Return a fact that all drives share; "" if they differ or do not have it."""
    values = {(drive.get(name) or "").strip() for drive in drives}
    return values.pop() if len(values) == 1 else ""


def _capacity_gb(sizes: list[int | None]) -> int | None:
    """Return the capacity that all devices share, in whole GB; None if they differ, or if it is not near their size.

    Half a GB, as of a small partition, would become a capacity that the reviewers have to question.
    """
    known = [size for size in sizes if size]
    found = {round(size / GB_BYTES) for size in known}
    if len(found) != 1 or None in sizes:
        return None
    capacity_gb = found.pop()
    return capacity_gb if all(is_near(size, capacity_gb) for size in known) else None


def _product_facts(facts: Facts, organisation: Organisation) -> Facts:
    """Return the facts of the known product with the model; nothing if none or several have it."""
    model = facts.get("model", "")
    named = known_products(organisation).filter(model__iexact=model) if model else Product.objects.none()
    identities = set(named.values_list("vendor", "category"))
    if len(identities) != 1:
        return {}
    vendor, category = identities.pop()
    return {"vendor": vendor, "category": category}


def known_products(organisation: Organisation) -> QuerySet[Product]:
    """Return the products that an organisation may know of: public ones, and those of its own submissions."""
    own = Submission.objects.filter(organisation=organisation, product__isnull=False).values("product")
    return Product.objects.public() | Product.objects.filter(pk__in=own)


def latest_submission(organisation: Organisation) -> Submission | None:
    """Return the newest submission of an organisation, whose facts a draft may take: often of the same drive."""
    return Submission.objects.filter(organisation=organisation, demo_run_id="").order_by("-received_at", "-pk").first()


def facts_of(submission: Submission) -> Facts:
    """Return the facts of a submission about its drive, not those about one run."""
    names = ("vendor", "model", "part_number", "capacity_gb", "firmware", "category", "over_provisioning_pct")
    return {name: value for name in names if (value := getattr(submission, name)) not in {None, ""}}
