"""The tables of the register."""

from results.models.event import Event
from results.models.evidence import Evidence, Submission, SubmissionKey
from results.models.organisation import Organisation
from results.models.product import Category, Product
from results.models.profile import Profile
from results.models.published import PublishedClaim, PublishedFigure
from results.models.reading import Reading
from results.models.run import Finding, Histogram, Run, Share, Slice, Statistic, Tier, Verdict, Visibility

__all__ = [
    "Category",
    "Event",
    "Evidence",
    "Finding",
    "Histogram",
    "Organisation",
    "Product",
    "Profile",
    "PublishedClaim",
    "PublishedFigure",
    "Reading",
    "Run",
    "Share",
    "Slice",
    "Statistic",
    "Submission",
    "SubmissionKey",
    "Tier",
    "Verdict",
    "Visibility",
]
