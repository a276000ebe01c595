"""The creation of certificate requests."""

from collections.abc import Sequence

from django.contrib.auth.models import AbstractBaseUser
from django.db import transaction

from results.errors import ReviewRefusedError
from results.history import record_event
from results.models import CertificateRequest, Organisation, Submission

FEWEST = 2
SAME_DRIVE = ("vendor", "model", "capacity_gb")


def request_certificate(
    organisation: Organisation, submissions: Sequence[Submission], actor: AbstractBaseUser, note: str = ""
) -> CertificateRequest:
    """Group submissions of an organisation into a request, with one event for each.

    Raises ReviewRefusedError for fewer than two, for those of another organisation, and for those of several drives.
    """
    if len(submissions) < FEWEST:
        raise ReviewRefusedError(
            f"Choose at least {FEWEST} submissions: a load test, and a stress test of twice its load on the same drive."
        )
    if any(submission.organisation_id != organisation.pk for submission in submissions):
        raise ReviewRefusedError("All submissions of a request have to be of one organisation.")
    if len({tuple(getattr(each, name) for name in SAME_DRIVE) for each in submissions}) > 1:
        raise ReviewRefusedError(
            "The submissions state several drives. A certificate is for one vendor, model and size."
        )
    with transaction.atomic():
        request = CertificateRequest.objects.create(organisation=organisation, created_by_id=actor.pk, note=note)
        request.submissions.set(submissions)
        for submission in submissions:
            subject = ("submission", submission.public_id)
            record_event(actor, "certificate-requested", subject, "", {"request": request.public_id})
    return request
