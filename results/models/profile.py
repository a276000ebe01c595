"""Profiles: the versions of the limits that runs are judged by. The Rust crate `logs` has their documents."""

from django.db import models


class Profile(models.Model):
    """An immutable version of a profile; the database refuses to change or delete one.

    `sha256` is over the bytes of `document`, which is what drivetest is given.
    """

    REGISTER = "operational-database"

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

    @classmethod
    def current(cls) -> "Profile":
        """Return the newest version of the profile that the register judges by; a migration adds the first."""
        return cls.objects.filter(name=cls.REGISTER).latest("rule_version")

    @classmethod
    def current_document(cls) -> str:
        """Return the document of that version."""
        documents = cls.objects.filter(name=cls.REGISTER).values_list("document", flat=True)
        document: str = documents.latest("rule_version")
        return document
