"""What the pages of a product depend on, as a short text that changes when one of them may.

Compared with what a snapshot was made of, they tell which of its pages are out of date, whatever changed them: a move
with its event, a bulk import without signals, or a minute that passed.
"""

import hashlib
from collections import defaultdict
from functools import cache
from pathlib import Path

from django.conf import settings
from django.db.models import Max

from results.models import Certificate, Event, Profile, PublishedClaim, PublishedFigure, Run
from webapp.register.dumps.shelf import newest_day
from webapp.register.public_addresses import EVERYTHING

SOURCES = ("webapp", "results", "static")


def current_stamps() -> dict[str, str]:
    """Return the stamp of every public product by its slug, and of all together; a fixed number of queries."""
    parts: dict[str, list[object]] = defaultdict(list)
    events = _newest_events()
    runs = Run.objects.public().order_by("pk")
    columns = ("public_id", "product__slug", "visibility", "superseded_by", "submission__log__sequestered")
    for public_id, slug, *state in runs.values_list(*columns):
        parts[slug].append((public_id, *state, events.get(("run", public_id))))
    for public_id, slug in Certificate.objects.order_by("pk").values_list("public_id", "product__slug"):
        if slug in parts:
            parts[slug].append((public_id, events.get(("certificate", public_id))))
    shared = _shared()
    stamps = {slug: _short([*shared, *told]) for slug, told in parts.items()}
    return stamps | {EVERYTHING: _short([*shared, *_published(), *sorted(stamps.items())])}


def _newest_events() -> dict[tuple[str, str], int]:
    kinds = Event.objects.filter(subject_type__in=("run", "certificate")).order_by()
    rows = kinds.values_list("subject_type", "subject_id").annotate(newest=Max("pk"))
    return {(kind, public_id): newest for kind, public_id, newest in rows}


def _shared() -> list[object]:
    """What every page depends on: the rules, and the register's own release."""
    return [Profile.objects.aggregate(newest=Max("pk"))["newest"], settings.PUBLIC_URL, release()]


def _published() -> list[object]:
    """What has no run: figures and claims, as far as they are counted (an import alone changes them); the dump."""
    figures, claims = (
        model.objects.aggregate(newest=Max("pk"))["newest"] for model in (PublishedFigure, PublishedClaim)
    )
    return [figures, claims, newest_day()]


@cache
def release() -> str:
    """Return a text that another release of the register does not have: of its files' names, sizes and times."""
    files = (path for name in SOURCES for path in sorted(Path(settings.BASE_DIR / name).rglob("*")) if path.is_file())
    told = [
        (str(path.relative_to(settings.BASE_DIR)), path.stat().st_size, path.stat().st_mtime_ns)
        for path in files
        if path.suffix != ".pyc"
    ]
    return _short(list(told))


def _short(told: list[object]) -> str:
    return hashlib.sha256(repr(told).encode()).hexdigest()[:16]
