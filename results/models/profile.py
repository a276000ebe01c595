"""Thresholds, limits, ratio, object size, duration and slice length under one name and version."""

from django.db import models


class Profile(models.Model):
    """An immutable version of a profile; the database refuses to change or delete one.

    `sha256` is over the bytes of `document`, which is what drivetest is given.
    """

    name = models.SlugField()
    rule_version = models.PositiveSmallIntegerField()
    document = models.TextField()
    sha256 = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        """One row per name and version."""

        constraints = [models.UniqueConstraint(fields=["name", "rule_version"], name="one_profile_per_version")]

    def __str__(self) -> str:
        return f"{self.name}, rule version {self.rule_version}"
