"""The register's query vocabulary: views and tasks read as sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models

if TYPE_CHECKING:
    from results.models import Product, Reading, Run  # noqa: F401 - named in the type arguments below


class ProductQuerySet(models.QuerySet["Product"]):
    """Products by what the public may see of them."""

    def current(self) -> ProductQuerySet:
        """Leave out what is historical."""
        return self.filter(historical=False)

    def historical(self) -> ProductQuerySet:
        """Only what is no longer recommended."""
        return self.filter(historical=True)


class ReadingQuerySet(models.QuerySet["Reading"]):
    """Readings by what the sweeper has to do."""

    def unfinished(self) -> ReadingQuerySet:
        """Pending, or begun and not ended (the reader may have died)."""
        return self.filter(state__in=["pending", "reading"])


class RunQuerySet(models.QuerySet["Run"]):
    """Runs by who may see them."""

    def public(self) -> RunQuerySet:
        """Published runs, withdrawn ones included: they stay readable, with the notice."""
        return self.filter(visibility__in=["public", "withdrawn"], product__isnull=False)
