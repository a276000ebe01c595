"""Certificate requests: several submissions of an organisation that together are to certify a drive."""

from django.conf import settings
from django.db import models

from results.models.evidence import Organisation, Submission
from results.models.ids import new_request_id


class CertificateRequest(models.Model):
    """The request to review some submissions together. It decides nothing: a certificate follows from public runs."""

    public_id = models.CharField(max_length=20, unique=True, default=new_request_id)
    organisation = models.ForeignKey(Organisation, models.PROTECT, related_name="certificate_requests")
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    submissions = models.ManyToManyField(Submission, related_name="certificate_requests")
    note = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.public_id
