"""Templates of a campaign: terms to begin with, from a fixed list, of the lab, or from an earlier campaign."""

from dataclasses import dataclass
from typing import Any

from results.models import Organisation
from runners.campaigns.terms import Terms, parse_terms
from runners.models import Campaign, OrderTemplate
from webapp.lab.shared.order_templates import saved_settings


@dataclass(frozen=True)
class Template:
    """A named set of terms."""

    name: str
    label: str
    description: str
    terms: Terms


MINUTE_S = 60
# A run of ten minutes is one slice. Such a campaign certifies nothing.
QUICK = Terms().changed(
    screening_s=2 * MINUTE_S, load_s=10 * MINUTE_S, stress_s=10 * MINUTE_S, rest_s=MINUTE_S,
    overload_rest_s=10 * MINUTE_S, resolution_pct=Terms().resolution_pct * 10, with_prep=False,
)  # fmt: skip
TEMPLATES = (
    Template("certificate", "Certificate", "load and stress tests of one day on a prepared drive", Terms()),
    Template("quick-look", "Quick look", "tests of ten minutes without a preparation; certifies nothing", QUICK),
)


def initial_of(like: str, organisation: Organisation | None) -> dict[str, Any]:
    """Return the initial values of the form: those of a template, also one of the lab, or of a campaign.

    Empty for another name.

    The stated firmware of a campaign is left out: a rerun may be after an update.
    """
    for template in TEMPLATES:
        if template.name == like:
            return vars(template.terms)
    campaign = Campaign.objects.filter(public_id=like).first()
    if campaign is None:
        return saved_settings(like, organisation, OrderTemplate.Kind.CAMPAIGN)
    return {**campaign.facts, "firmware": "", **vars(parse_terms(campaign.terms))}
