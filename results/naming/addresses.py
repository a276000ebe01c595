"""Addresses of products: former slugs of renamed products, and the products that merged ones became."""

from django.db.models import QuerySet

from results.models import Product, ProductAddress
from results.models.ids import new_product_slug, product_stem


def current_product(product: Product) -> Product:
    """Return the product itself, or the one that it was merged into, also over several merges."""
    while product.merged_into is not None:
        product = product.merged_into
    return product


def locked_for_runs(product: Product) -> Product:
    """Return the current product, locked until the caller's transaction ends, so that no merge begins meanwhile.

    The lock lets other readings add runs of the product at the same time. Only a merge waits for it.
    """
    while True:
        # Django has no query for this lock, the weakest that a merge waits for.
        sql = "SELECT * FROM results_product WHERE id = %s FOR KEY SHARE"
        locked: Product = Product.objects.raw(sql, [product.pk])[0]
        if locked.merged_into is None:
            return locked
        product = locked.merged_into


def product_of_slug(slug: str) -> Product | None:
    """Return the product that a slug means now, be it public or not; None for an unknown one."""
    return Product.objects.filter(slug=slug, merged_into__isnull=True).first() or product_by_former_slug(slug)


def product_by_former_slug(slug: str) -> Product | None:
    """Return the product that a slug meant before it was renamed or merged; None for another slug."""
    address = ProductAddress.objects.select_related("product").filter(slug=slug).first()
    found = address.product if address else Product.objects.filter(slug=slug, merged_into__isnull=False).first()
    return current_product(found) if found else None


def moved_to(slug: str, public: QuerySet[Product]) -> str | None:
    """Return the slug to which the addresses of a former slug redirect; None if there is none that is public."""
    product = product_by_former_slug(slug)
    return product.slug if product and public.filter(pk=product.pk).exists() else None


def former_slugs() -> list[str]:
    """Return the slugs of all products that were renamed or merged."""
    merged = Product.objects.filter(merged_into__isnull=False).order_by("pk").values_list("slug", flat=True)
    return [*ProductAddress.objects.order_by("pk").values_list("slug", flat=True), *merged]


def own_slugs(product: Product) -> list[str]:
    """Return the slug of a product and its former ones."""
    return [product.slug, *product.former_addresses.order_by("pk").values_list("slug", flat=True)]


def all_slugs(product: Product) -> list[str]:
    """Return the slugs that mean a product: its own, its former ones, and those of the products merged into it."""
    found: list[str] = []
    waiting = [product]
    while waiting:
        each = waiting.pop(0)
        found += own_slugs(each)
        waiting += each.merged.order_by("pk")
    return found


def free_slug(vendor: str, model: str, capacity_gb: int | None) -> str:
    """Return a slug for a product with this name that no product has or had."""
    stem = product_stem(vendor, model, capacity_gb)
    products = Product.objects.filter(slug__startswith=stem).values_list("slug", flat=True)
    former = ProductAddress.objects.filter(slug__startswith=stem).values_list("slug", flat=True)
    return new_product_slug(vendor, model, capacity_gb, {*products, *former})
