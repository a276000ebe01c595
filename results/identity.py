"""Which product a submission speaks of: exact identity, or none until a reviewer has looked."""

from django.utils.text import slugify

from results.models import Product, Submission

SLUG_CHARS = 110  # the column holds 120; the rest is for a number that tells namesakes apart


def match_product(submission: Submission) -> Product | None:
    """Return the product with exactly the stated identity; None: nothing is guessed, it awaits identity."""
    return Product.objects.filter(**identity_of(submission)).first()


def identity_of(submission: Submission) -> dict[str, str | int | None]:
    """Return the five facts that name a product, as the columns of Product."""
    return {
        "category": submission.category,
        "vendor": submission.vendor,
        "model": submission.model,
        "part_number": submission.part_number,
        "capacity_gb": submission.capacity_gb,
    }


def new_slug(submission: Submission) -> str:
    """Return a readable slug that no product has yet, for one made from the stated facts."""
    size = f"{submission.capacity_gb} GB" if submission.capacity_gb else ""
    words = [submission.vendor, submission.model, submission.part_number, size]
    stem = slugify(" ".join(words))[:SLUG_CHARS].strip("-") or "product"
    taken = set(Product.objects.filter(slug__startswith=stem).values_list("slug", flat=True))
    number, slug = 1, stem
    while slug in taken:
        number += 1
        slug = f"{stem}-{number}"
    return slug
