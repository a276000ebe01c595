"""Rated products: drives, cloud instances and networked storage systems."""

from django.db import models

from results.models.categories import Category
from results.models.querysets import ProductQuerySet


class Product(models.Model):
    """A rated product. Vendor, model, part number and capacity identify a drive (docs/decisions).

    A cloud instance has its provider as vendor and the instance type as model. Firmware and over-provisioning
    are states of the drive in a run, so the run stores them. `attempts` shows how close its runs are to a certificate;
    results/certification/certificates.py updates it when one of them changes. It is null until then.
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
    attempts = models.JSONField(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = ProductQuerySet.as_manager()

    class Meta:
        """Identity is unique also where capacity is unknown."""

        constraints = [
            models.UniqueConstraint(
                fields=["category", "vendor", "model", "part_number", "capacity_gb"],
                nulls_distinct=False,
                name="one_product_per_identity",
            )
        ]

    def __str__(self) -> str:
        return f"{self.vendor} {self.model}"
