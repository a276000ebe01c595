"""The tables of the register."""

from results.models.annotation import Annotation
from results.models.categories import Category
from results.models.certificate import Certificate, CertificateRun
from results.models.companion import Companion
from results.models.drive_in_run import DriveInRun, Preparation
from results.models.earlier_result import EarlierResult
from results.models.event import Event
from results.models.evidence import Evidence, Submission, SubmissionKey
from results.models.organisation import Organisation
from results.models.product import Product
from results.models.profile import Profile
from results.models.published import PublishedClaim, PublishedFigure
from results.models.reading import Reading
from results.models.run import Finding, Histogram, Run, Share, Slice, Statistic, Tier, Verdict, Visibility
from results.models.series import Series
from results.models.ycsb import YcsbInterval, YcsbOperation, YcsbRun

__all__ = [
    "Annotation",
    "Category",
    "Certificate",
    "CertificateRun",
    "Companion",
    "DriveInRun",
    "EarlierResult",
    "Event",
    "Evidence",
    "Finding",
    "Histogram",
    "Organisation",
    "Preparation",
    "Product",
    "Profile",
    "PublishedClaim",
    "PublishedFigure",
    "Reading",
    "Run",
    "Series",
    "Share",
    "Slice",
    "Statistic",
    "Submission",
    "SubmissionKey",
    "Tier",
    "Verdict",
    "Visibility",
    "YcsbInterval",
    "YcsbOperation",
    "YcsbRun",
]
