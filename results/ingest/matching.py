"""Which product a submission speaks of: exact identity, or none until a reviewer has looked."""

from typing import TypedDict

from django.db.models import Q

from results.models import Product, Submission


class Identity(TypedDict):
    """The five facts that name a product, as the columns of Product."""

    category: str
    vendor: str
    model: str
    part_number: str
    capacity_gb: int | None


def match_product(submission: Submission) -> Product | None:
    """Return the product with exactly the stated identity; None: nothing is guessed, it awaits identity.

    One that is not public is matched for the organisation alone that has submissions of it: to others it does not
    exist, and what they state must not tell that it does. A reviewer who enters it for them takes the one there is.
    """
    public = Product.objects.public().values("pk")
    own = Submission.objects.filter(organisation=submission.organisation_id, product__isnull=False).values("product")
    return Product.objects.filter(Q(pk__in=public) | Q(pk__in=own), **identity_of(submission)).first()


def identity_of(submission: Submission) -> Identity:
    """Return what a submission states of a product's identity."""
    return {
        "category": submission.category,
        "vendor": submission.vendor,
        "model": submission.model,
        "part_number": submission.part_number,
        "capacity_gb": submission.capacity_gb,
    }
