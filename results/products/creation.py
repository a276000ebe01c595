"""A new product that a reviewer enters."""

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction

from results.errors import ReviewRefusedError
from results.history import record_event
from results.ingest.rows import Identity
from results.models import Product
from results.naming.addresses import free_slug


def create(identity: Identity, actor: AbstractBaseUser, split_from: Product) -> Product:
    """Create a product for runs that are split from another one. Raises ReviewRefusedError if the name is taken."""
    with transaction.atomic():
        if other := Product.objects.filter(**identity).first():
            raise ReviewRefusedError(f"A product has this name: {other.slug}. State this slug, or another name.")
        slug = free_slug(identity["vendor"], identity["model"], identity["capacity_gb"])
        product = Product.objects.create(slug=slug, **identity)
        record_event(actor, "product-created", ("product", slug), "", {"split_from": split_from.slug})
    return product
