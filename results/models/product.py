"""Rated products: drives, cloud instances and networked storage systems; their other names, prices and merges."""

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q

from results.models.categories import Category
from results.models.querysets import ProductQuerySet


class Product(models.Model):
    """A rated product. Vendor, model, part number and capacity identify a drive (docs/decisions).

    A cloud instance has its provider as vendor and the instance type as model. Firmware and over-provisioning
    are states of the drive in a run, so the run stores them. `attempts` shows how close its runs are to a certificate;
    results/certification/certificates.py updates it when one of them changes. It is null until then.

    `part_numbers` are further orderable numbers, which are no part of the identity. `entered_facts` names the facts
    that a reviewer entered: an import of the catalogue leaves them as they are. `version` counts the changes by
    reviewers. A merged product still has its row and its slug, and has no runs.
    """

    slug = models.SlugField(max_length=120, unique=True)
    category = models.CharField(max_length=20, choices=Category)
    historical = models.BooleanField(default=False)
    vendor = models.CharField(max_length=200)
    model = models.CharField(max_length=200)
    part_number = models.CharField(max_length=200, blank=True)
    capacity_gb = models.PositiveIntegerField(null=True)
    pcie_gen = models.CharField(max_length=10, blank=True)
    endurance_dwpd = models.DecimalField(max_digits=7, decimal_places=2, null=True)
    form_factor = models.CharField(max_length=40, blank=True)
    part_numbers = ArrayField(models.CharField(max_length=200), default=list)
    entered_facts = ArrayField(models.CharField(max_length=40), default=list)
    version = models.PositiveIntegerField(default=0)
    merged_into = models.ForeignKey("self", models.PROTECT, null=True, related_name="merged")
    attempts = models.JSONField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ProductQuerySet.as_manager()

    class Meta:
        """Identity is unique also where capacity is unknown. The index has the order of the list of products."""

        constraints = [
            models.UniqueConstraint(
                fields=["category", "vendor", "model", "part_number", "capacity_gb"],
                nulls_distinct=False,
                name="one_product_per_identity",
            )
        ]
        indexes = [models.Index(fields=["vendor", "model", "capacity_gb", "id"], name="product_by_name")]

    def __str__(self) -> str:
        return f"{self.vendor} {self.model}"


class ProductAlias(models.Model):
    """A name that means a product, as a reviewer decided. `name_key` is the normalised identity.

    The five facts are as they were stated. A revoked alias stays as a row, and no longer applies.
    """

    name_key = models.TextField()
    category = models.CharField(max_length=20, blank=True)
    vendor = models.CharField(max_length=200, blank=True)
    model = models.CharField(max_length=200, blank=True)
    part_number = models.CharField(max_length=200, blank=True)
    capacity_gb = models.PositiveIntegerField(null=True)
    product = models.ForeignKey(Product, models.PROTECT, related_name="aliases")
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        """A name means one product at a time."""

        ordering = ["created_at", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["name_key"], condition=Q(revoked_at__isnull=True), name="name_means_one_product"
            )
        ]

    def __str__(self) -> str:
        size = f"{self.capacity_gb} GB" if self.capacity_gb else ""
        return " ".join(part for part in (self.vendor, self.model, self.part_number, size) if part)


class ProductAddress(models.Model):
    """A former slug of a renamed product. Its addresses redirect."""

    slug = models.SlugField(max_length=120, unique=True)
    product = models.ForeignKey(Product, models.CASCADE, related_name="former_addresses")
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.slug


class ListPrice(models.Model):
    """A list price of a product on a date, with its source; the newest date is shown."""

    product = models.ForeignKey(Product, models.PROTECT, related_name="list_prices")
    amount = models.DecimalField(max_digits=12, decimal_places=2)
    currency = models.CharField(max_length=3)
    stated_on = models.DateField()
    source_url = models.URLField(max_length=500)
    entered_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    removed_at = models.DateTimeField(null=True)

    class Meta:
        """Newest date first; a date has one price in each currency."""

        ordering = ["-stated_on", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["product", "currency", "stated_on"],
                condition=Q(removed_at__isnull=True),
                name="one_list_price_per_date",
            )
        ]

    def __str__(self) -> str:
        return f"{self.amount} {self.currency} on {self.stated_on}"


class ProductMove(models.Model):
    """A merge or a split: what moved from one product to another, as public ids, so that it can be reverted."""

    class Kind(models.TextChoices):
        """A merge moves everything. A split moves chosen runs."""

        MERGE = "merge"
        SPLIT = "split"

    kind = models.CharField(max_length=10, choices=Kind)
    source = models.ForeignKey(Product, models.PROTECT, related_name="moves_from")
    target = models.ForeignKey(Product, models.PROTECT, related_name="moves_to")
    runs = ArrayField(models.CharField(max_length=20), default=list)
    submissions = ArrayField(models.CharField(max_length=20), default=list)
    certificates = ArrayField(models.CharField(max_length=20), default=list)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    reason = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)
    reverted_at = models.DateTimeField(null=True)

    class Meta:
        """Newest first."""

        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return f"{self.kind} of {self.source.slug} into {self.target.slug}"
