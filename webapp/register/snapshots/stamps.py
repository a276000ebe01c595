"""Stamps of products: short texts that change whenever a page of the product may change.

A page of the snapshot is out of date if its stamp differs from the current one. This holds for any cause: a transition
with its event, a bulk import without signals, or the passing of time.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable
from functools import reduce
from operator import or_

from django.conf import settings
from django.db import connection
from django.db.models import Count, Max, Q
from django.db.models.expressions import RawSQL
from django.utils import timezone

from results.demonstration.examples import MAIN
from results.models import Certificate, Companion, Event, Product, Profile, Run
from webapp.register.drives.store.column_store import current_store
from webapp.register.dumps.store import newest_day
from webapp.register.http.release import release
from webapp.register.limits.profile import current_limits
from webapp.register.limits.reader_limits import read_limits
from webapp.register.product_pages.comparable import category_digests
from webapp.register.syndication.public_addresses import EVERYTHING, page_group

# Category, vendor and model. The products of one model are its capacities, and their pages link to each other.
Model = tuple[str, ...]
OF_A_PRODUCT = ("product__slug", "product__category", "product__vendor", "product__model")
OF_A_RUN = (
    "public_id", "submission", "visibility", "superseded_by", "written_by", "product_written_by",
    "reading__evidence__sequestered", "submission__log__sequestered", "submission__side_file__sequestered",
    "reading__evidence__hidden", "submission__log__hidden", "submission__side_file__hidden",
)  # fmt: skip
# A hash of the contents: each start of the register writes these rows again, mostly unchanged.
ROWS_STATE = "count(*) || ' ' || bit_xor(hashtextextended(stored::text, 0))"
STATE_OF_PUBLISHED = f"""
SELECT
    (SELECT {ROWS_STATE} FROM results_publishedfigure stored),
    (SELECT {ROWS_STATE} FROM results_publishedclaim stored),
    (SELECT {ROWS_STATE} FROM (SELECT public_id, state, refusal FROM results_objection) stored),
    (SELECT visibility FROM results_run WHERE is_demo AND public_id = %s)
"""  # noqa: S608 - of constants


def current_stamps() -> dict[str, str]:
    """Return the stamp of every group of pages, in a fixed number of queries.

    The groups are every public product by slug, the own page of each product, which shows comparable products as well,
    and all products together.
    """
    parts: dict[Model, list[object]] = defaultdict(list)
    model_of: dict[str, Model] = {}
    events = _written_events()
    withheld = Companion.objects.filter(Q(evidence__sequestered=True) | Q(evidence__hidden=True))
    companions = set(withheld.values_list("submission", flat=True))
    runs = Run.objects.public().annotate(written_by=_written_by("run"), product_written_by=_written_by("product"))
    for row in runs.order_by("pk").values_list(*OF_A_PRODUCT, *OF_A_RUN):
        (slug, *model), (public_id, submission, *state) = row[:4], row[4:]
        model_of[slug] = tuple(model)
        parts[model_of[slug]].append((slug, public_id, state, submission in companions, events.get(("run", public_id))))
    certificates = Certificate.objects.annotate(written_by=_written_by("certificate")).order_by("pk")
    for public_id, slug, written_by in certificates.values_list("public_id", "product__slug", "written_by"):
        if slug in model_of:
            parts[model_of[slug]].append((public_id, written_by, events.get(("certificate", public_id))))
    # Every page depends on the rules, on settings that pages state, and on the register's own release.
    stated = [settings.PUBLIC_URL, settings.DATA_LICENCE]
    stated += [settings.OPERATOR_NAME, settings.OPERATOR_PLACE, settings.OPERATOR_CONTACT]
    stated += [settings.OPERATOR_FUNDING, settings.OPERATOR_INTERESTS]
    shared = [Profile.objects.aggregate(newest=Max("pk"))["newest"], *stated, release()]
    stamps = {slug: _short([*shared, slug, *parts[model]]) for slug, model in model_of.items()}
    compared = category_digests(current_store(), read_limits({}, current_limits()))
    pages = {page_group(slug): _short([stamp, compared[model_of[slug][0]]]) for slug, stamp in stamps.items()}
    return stamps | pages | {EVERYTHING: _short([*shared, *_published(), *sorted(stamps.items())])}


def slugs_of_model(slugs: Iterable[str]) -> set[str]:
    """Return these products and the other capacities of their models, because each page lists all of them."""
    models = Product.objects.filter(slug__in=list(slugs)).values_list("category", "vendor", "model").distinct()
    same = [Q(category=category, vendor=vendor, model=model) for category, vendor, model in models]
    return set(Product.objects.filter(reduce(or_, same)).values_list("slug", flat=True)) if same else set()


def _written_by(name: str) -> RawSQL:
    """Return the transaction that wrote a row, and the row's position: both change when any column changes."""
    return RawSQL(f"results_{name}.xmin::text || ' ' || results_{name}.ctid::text", [])  # noqa: S611 - of constants


def _written_events() -> dict[tuple[str, str], int]:
    """Return the number of events of each subject. Events are never deleted, and a later one may have a lower key."""
    kinds = Event.objects.filter(subject_type__in=("run", "certificate")).order_by()
    rows = kinds.values_list("subject_type", "subject_id").annotate(written=Count("pk"))
    return {(kind, public_id): written for kind, public_id, written in rows}


def _published() -> list[object]:
    """Return the state of data without listed runs: figures, claims, counts of objections, example, dump, month."""
    with connection.cursor() as cursor:
        cursor.execute(STATE_OF_PUBLISHED, [MAIN.run_id])
        return [*cursor.fetchone(), newest_day(), f"{timezone.now():%Y-%m}"]


def _short(parts: list[object]) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]
