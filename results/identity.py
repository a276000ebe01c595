"""Which product a submission speaks of: exact identity, or none until a reviewer has looked."""

from typing import TypedDict

from results.models import Product, Submission


class Identity(TypedDict):
    """The five facts that name a product, as the columns of Product."""

    category: str
    vendor: str
    model: str
    part_number: str
    capacity_gb: int | None


def match_product(submission: Submission) -> Product | None:
    """Return the product with exactly the stated identity; None: nothing is guessed, it awaits identity."""
    return Product.objects.filter(**identity_of(submission)).first()


def identity_of(submission: Submission) -> Identity:
    """Return what a submission states of a product's identity."""
    return {
        "category": submission.category,
        "vendor": submission.vendor,
        "model": submission.model,
        "part_number": submission.part_number,
        "capacity_gb": submission.capacity_gb,
    }
