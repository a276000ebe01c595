"""What a product's page says of certificates: those issued, and how far the runs came where one is missing."""

from dataclasses import dataclass

from results.access.redaction import departures_told
from results.certification.certificates import attempts
from results.lifecycle.event_labels import words_of
from results.models import Certificate, Event, Product
from webapp.templatetags import units


@dataclass(frozen=True)
class CertificateView:
    """One certificate, standing or withdrawn, with the runs it rests on and its history."""

    certificate: Certificate
    run_ids: list[str]
    present: list[str]
    reasons: list[str]
    history: list[str]


@dataclass(frozen=True)
class AttemptView:
    """What the runs show for one number of devices, and what they do not."""

    title: str
    profile: str
    present: list[str]
    missing: list[str]
    reasons: list[str]


def certificates_of(product: Product) -> list[CertificateView]:
    """Return the product's certificates, those that stand first."""
    rows = list(product.certificates.select_related("profile").prefetch_related("runs").order_by("state", "-nx_load"))
    ids = [certificate.public_id for certificate in rows]
    histories: dict[str, list[Event]] = {public_id: [] for public_id in ids}
    for event in Event.objects.filter(subject_type="certificate", subject_id__in=ids):
        histories[event.subject_id].append(event)
    return [_view(certificate, histories[certificate.public_id]) for certificate in rows]


def _view(certificate: Certificate, events: list[Event]) -> CertificateView:
    return CertificateView(
        certificate=certificate,
        run_ids=[run.public_id for run in certificate.runs.all()],
        present=departures_told([requirement["sentence"] for requirement in certificate.document["present"]]),
        reasons=departures_told(certificate.document["reasons"]),
        history=[_line(event) for event in events],
    )


def _line(event: Event) -> str:
    reason = f": {event.reason}" if event.reason else ""
    return f"{units.moment(event.at)}: {words_of(event.kind)}{reason}"


def attempts_of(product: Product) -> list[AttemptView]:
    """Return how far the runs came, for each number of devices that they were made with; without runs, nothing."""
    return [
        AttemptView(
            title=_title(told["device_count"], told["attempted_nx"]),
            profile=told["profile"],
            present=[requirement["sentence"] for requirement in told["present"]],
            missing=list(dict.fromkeys(requirement["sentence"] for requirement in told["missing"])),
            reasons=told["reasons"],
        )
        for told in departures_told(attempts(product))
        if not told["is_certified"]
    ]


def _title(device_count: int, attempted_nx: str | None) -> str:
    devices = "one device" if device_count == 1 else f"{device_count} devices"
    at = f" at {attempted_nx}" if attempted_nx else ""
    return f"No certificate for {devices}{at} yet"
