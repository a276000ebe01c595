"""Merges and splits: runs, submissions and certificates that move from one product to another, and back.

The rows are locked in the order of results.models.row_operations.lock_log: submissions, runs, then products.
"""

from collections.abc import Collection, Iterable

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from results.certification.certificates import refresh_certificates
from results.errors import ReviewRefusedError
from results.history import WAS_PUBLIC
from results.models import Certificate, Product, ProductMove, Run, Submission
from results.models.querysets import RunQuerySet
from results.products.changes import lock_product, record_change

MERGED, JOINED = "product-merged", "product-joined"  # of the source, of the target
SPLIT, RECEIVED = "product-split", "product-received"
REVERTED, RETURNED = "product-move-reverted", "product-returned"


def merge(source: Product, target: Product, actor: AbstractBaseUser, reason: str) -> ProductMove:
    """Move everything of a product to another one. Its address redirects, and its names mean the other one.

    Raises ReviewRefusedError without a reason, for products of different categories, and if one was merged already.
    """
    _refuse_pair(source, target)
    if source.category != target.category:
        raise ReviewRefusedError(
            f"Expected two products of one category, found {source.category} and {target.category}. "
            "Rename one of them first."
        )
    with transaction.atomic():
        _lock_rows(Run.objects.filter(product=source))
        _lock_pair(source, target, reason)
        runs = Run.objects.filter(product=source)
        submissions = Submission.objects.filter(product=source)
        move = _move(ProductMove.Kind.MERGE, (source, target), (runs, submissions), actor, reason)
        Product.objects.filter(pk=source.pk).update(merged_into=target)
        return move


def split(source: Product, runs: Collection[str], target: Product, actor: AbstractBaseUser, reason: str) -> ProductMove:
    """Move chosen runs, by public id, to another product. A submission moves if none of its runs stays.

    Raises ReviewRefusedError without a reason, and for runs that are not of the source.
    """
    _refuse_pair(source, target)
    with transaction.atomic():
        chosen = Run.objects.filter(product=source, public_id__in=runs)
        _lock_rows(chosen)
        _lock_pair(source, target, reason)
        found = set(chosen.values_list("public_id", flat=True))
        if not found or found != set(runs):
            missing = ", ".join(sorted(set(runs) - found)) or "none"
            raise ReviewRefusedError(
                f"Expected public ids of runs of {source.slug}, found others: {missing}. Nothing was moved."
            )
        stay = Run.objects.filter(product=source).exclude(public_id__in=found)
        submissions = Submission.objects.filter(product=source, runs__in=chosen).exclude(runs__in=stay).distinct()
        return _move(ProductMove.Kind.SPLIT, (source, target), (chosen, submissions), actor, reason)


def revert(move: ProductMove, actor: AbstractBaseUser, reason: str) -> None:
    """Move back what a merge or a split moved, as far as it is still at the target.

    Raises ReviewRefusedError without a reason, if it was reverted already, and if one of the products was merged
    since: that merge must be reverted first.
    """
    with transaction.atomic():
        locked = ProductMove.objects.select_for_update().select_related("source", "target").get(pk=move.pk)
        if locked.reverted_at is not None:
            raise ReviewRefusedError(f"The {locked} was reverted already. Nothing was changed.")
        runs = Run.objects.filter(product=locked.target, public_id__in=locked.runs)
        _lock_rows(runs)
        if locked.kind == ProductMove.Kind.MERGE:
            Product.objects.filter(pk=locked.source_id).update(merged_into=None)
        _lock_pair(locked.source, locked.target, reason)
        moved = list(runs.values_list("pk", flat=True))
        was_public = runs.public().exists()
        Submission.objects.filter(product=locked.target, public_id__in=locked.submissions).update(product=locked.source)
        Run.objects.filter(pk__in=moved).update(product=locked.source)
        _move_certificates(locked.target, locked.source, moved, set(locked.certificates))
        ProductMove.objects.filter(pk=locked.pk).update(reverted_at=timezone.now())
        details = {"from": locked.target.slug, "into": locked.source.slug, "kind": locked.kind, WAS_PUBLIC: was_public}
        for product, kind in ((locked.source, REVERTED), (locked.target, RETURNED)):
            record_change(product, actor, kind, reason, details)
        refresh_certificates([locked.source_id, locked.target_id])


def moves_of(product: Product) -> QuerySet[ProductMove]:
    """Return the merges and splits from or to a product, the newest first."""
    found = ProductMove.objects.filter(source=product) | ProductMove.objects.filter(target=product)
    return found.select_related("source", "target", "decided_by")


def _refuse_pair(source: Product, target: Product) -> None:
    if source.pk == target.pk:
        raise ReviewRefusedError(f"Expected two different products, got {source.slug} twice. Nothing was moved.")


def _lock_rows(runs: RunQuerySet) -> None:
    of_runs = Submission.objects.filter(pk__in=runs.values("submission"))
    list(of_runs.select_for_update().order_by("pk"))
    list(runs.select_for_update(of=("self",)).order_by("pk"))


def _lock_pair(source: Product, target: Product, reason: str) -> None:
    """Lock both products, by rising key, and refuse merged ones."""
    for product in sorted((source, target), key=lambda each: each.pk):
        lock_product(product, None, reason)


Rows = tuple[RunQuerySet, QuerySet[Submission]]


def _move(
    kind: ProductMove.Kind, pair: tuple[Product, Product], rows: Rows, actor: AbstractBaseUser, reason: str
) -> ProductMove:
    (source, target), (runs, submissions) = pair, rows
    moved = list(runs.order_by("pk").values_list("pk", "public_id"))
    public = list(runs.public().order_by("pk").values_list("public_id", flat=True))
    of_submissions = list(submissions.order_by("pk").values_list("pk", "public_id"))
    run_keys = [key for key, _ in moved]
    Submission.objects.filter(pk__in=[key for key, _ in of_submissions]).update(product=target)
    Run.objects.filter(pk__in=run_keys).update(product=target)
    certificates = _move_certificates(source, target, run_keys)
    move = ProductMove.objects.create(
        kind=kind,
        source=source,
        target=target,
        runs=[public_id for _, public_id in moved],
        submissions=[public_id for _, public_id in of_submissions],
        certificates=certificates,
        decided_by_id=actor.pk,
        reason=reason,
    )
    # The event names only runs that everyone can open; the move has the others.
    details = {"from": source.slug, "into": target.slug, "runs": public, WAS_PUBLIC: bool(public)}
    kinds = (MERGED, JOINED) if kind == ProductMove.Kind.MERGE else (SPLIT, RECEIVED)
    for product, event_kind in zip(pair, kinds, strict=True):
        record_change(product, actor, event_kind, reason, details)
    refresh_certificates([source.pk, target.pk])
    return move


def _move_certificates(
    source: Product, target: Product, runs: Iterable[int], named: Collection[str] | None = None
) -> list[str]:
    """Move the certificates that rest only on the moved runs, and return their public ids.

    A certificate on the same ground that the target already has stays where it is: one set of runs has one certificate.
    """
    moved = set(runs)
    grounds = set(target.certificates.values_list("ground", flat=True))
    found = []
    for certificate in source.certificates.prefetch_related("runs").order_by("pk"):
        own = {run.pk for run in certificate.runs.all()}
        is_named = named is None or certificate.public_id in named
        if own and own <= moved and is_named and certificate.ground not in grounds:
            found.append(certificate.public_id)
    Certificate.objects.filter(public_id__in=found).update(product=target)
    return found
