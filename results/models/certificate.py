"""Certificates: which set of runs certifies a product at which load, permanent even when withdrawn."""

from django.db import models

from results.models.ids import new_certificate_id
from results.models.product import Product
from results.models.profile import Profile
from results.models.run import Run


class CertificateQuerySet(models.QuerySet["Certificate"]):
    """Queries for certificates by state."""

    def current(self) -> "CertificateQuerySet":
        """Return the certificates that are not withdrawn."""
        return self.filter(state=Certificate.State.STANDING)


class Certificate(models.Model):
    """A set of runs that together certify a product at N, for a number of devices, under a profile.

    `ground` is a hash of all that it rests on, so that the same ground found again is the same certificate.
    `exact_nx` is N as a fraction; `nx_load` is rounded to 4 places, for sorting and showing. `document` is the
    result of the rules: requirements present, reasons.
    """

    class State(models.TextChoices):
        """Withdrawn: its runs certify it no longer; the page stays."""

        STANDING = "standing"
        WITHDRAWN = "withdrawn"

    public_id = models.CharField(max_length=20, unique=True, default=new_certificate_id)
    product = models.ForeignKey(Product, models.PROTECT, related_name="certificates")
    profile = models.ForeignKey(Profile, models.PROTECT, related_name="certificates")
    state = models.CharField(max_length=10, choices=State, default=State.STANDING)
    device_count = models.PositiveSmallIntegerField()
    nx_load = models.DecimalField(max_digits=14, decimal_places=4)
    exact_nx = models.CharField(max_length=60)
    firmware = models.CharField(max_length=100, blank=True)
    ground = models.CharField(max_length=64)
    document = models.JSONField()
    runs = models.ManyToManyField(Run, through="CertificateRun", related_name="certificates")
    issued_at = models.DateTimeField(auto_now_add=True)
    withdrawn_at = models.DateTimeField(null=True)

    objects = CertificateQuerySet.as_manager()

    class Meta:
        """Highest load first."""

        ordering = ["-nx_load", "-device_count", "id"]
        constraints = [models.UniqueConstraint(fields=["product", "ground"], name="one_certificate_per_ground")]

    def __str__(self) -> str:
        return self.public_id


class CertificateRun(models.Model):
    """One run that a certificate rests on."""

    certificate = models.ForeignKey(Certificate, models.PROTECT, related_name="+")
    run = models.ForeignKey(Run, models.PROTECT, related_name="+")

    class Meta:
        """Once each."""

        constraints = [models.UniqueConstraint(fields=["certificate", "run"], name="run_once_in_certificate")]

    def __str__(self) -> str:
        return f"{self.run} in {self.certificate}"
