"""What the register says beside a run's figures, without changing one of them."""

from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Greatest

from results.models.run import Run


class AnnotationQuerySet(models.QuerySet["Annotation"]):
    """Annotations by whether they stand."""

    def with_public_since(self) -> "AnnotationQuerySet":
        """With `since`, as the property `public_since` has it."""
        return self.annotate(since=Greatest("created_at", "run__published_at"))  # PostgreSQL leaves null out

    def standing(self) -> "AnnotationQuerySet":
        """Not retracted."""
        return self.filter(retracted_at__isnull=True)


class Annotation(models.Model):
    """A sentence that stands beside a run's figures until it is retracted; its text is never altered."""

    run = models.ForeignKey(Run, models.PROTECT, related_name="annotations")
    text = models.TextField()
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    retracted_at = models.DateTimeField(null=True)

    objects = AnnotationQuerySet.as_manager()

    class Meta:
        """In the order they were made; the same words stand once beside a run."""

        ordering = ["created_at", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["run", "text"], condition=Q(retracted_at__isnull=True), name="annotation_stands_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.run}: {self.text}"

    @property
    def public_since(self) -> datetime:
        """Since when everyone may read it: not before its run was public, whenever a reviewer wrote it."""
        return max(self.created_at, self.run.published_at or self.created_at)
