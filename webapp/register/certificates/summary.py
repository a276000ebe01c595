"""How many products of the register are certified, as a sentence."""

from django.db.models import Count, Q

from results.models import Certificate, Product
from webapp.templatetags import units


def certified_sentence() -> str:
    """Return how many products are certified, in one query."""
    is_current = Q(state=Certificate.State.STANDING)
    numbers = Certificate.objects.filter(product__in=Product.objects.public()).aggregate(
        all=Count("pk"), products=Count("product", distinct=True, filter=is_current)
    )
    if numbers["products"]:
        verb = "is" if numbers["products"] == 1 else "are"
        return f"{units.counted(numbers['products'], 'drive')} {verb} certified."
    if numbers["all"]:
        return "No drive is certified now: all certificates were withdrawn."
    return "No drive is certified yet."
