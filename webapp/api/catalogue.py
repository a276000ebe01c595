"""What is public: products and their runs."""

from rest_framework.generics import ListAPIView, RetrieveAPIView

from results.models import Product, Run
from webapp.api.serializers import ProductSerializer, RunSerializer
from webapp.api.submissions import NewestFirst
from webapp.api.throttles import ReadThrottle

PUBLIC_RUNS = Run.objects.public().select_related("product").prefetch_related("shares", "verdicts")


class RunList(ListAPIView[Run]):
    """The public runs, newest first; a withdrawn one stays, with its visibility."""

    queryset = PUBLIC_RUNS
    serializer_class = RunSerializer
    pagination_class = NewestFirst
    throttle_classes = [ReadThrottle]


class RunDetail(RetrieveAPIView[Run]):
    """One public run."""

    queryset = PUBLIC_RUNS
    serializer_class = RunSerializer
    throttle_classes = [ReadThrottle]
    lookup_field = "public_id"


class ProductList(ListAPIView[Product]):
    """The products that have a public run."""

    queryset = Product.objects.public()
    serializer_class = ProductSerializer
    pagination_class = NewestFirst
    throttle_classes = [ReadThrottle]


class ProductDetail(RetrieveAPIView[Product]):
    """One product with a public run, by its slug."""

    queryset = Product.objects.public()
    serializer_class = ProductSerializer
    throttle_classes = [ReadThrottle]
    lookup_field = "slug"
