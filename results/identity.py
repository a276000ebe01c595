"""Which product a submission speaks of: exact identity, or none until a reviewer has looked."""

from results.models import Product, Submission


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
