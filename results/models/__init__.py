"""The database tables of the register: products, evidence, runs, profiles, certificates and events."""

from results.models.approval import Approval, ApprovedStep, Maker, VoidReason
from results.models.categories import Category
from results.models.certificate import Certificate, CertificateRun
from results.models.certificate_request import CertificateRequest
from results.models.draft import Draft, DraftFile, DraftReading
from results.models.drive_in_run import DriveInRun, Preparation
from results.models.evidence import Companion, Evidence, Organisation, Reading, Submission, SubmissionKey
from results.models.hidden_file import HiddenFile
from results.models.history import Annotation, EarlierResult, Event
from results.models.listing_change import ListingChange
from results.models.objection import Objection, ObjectionFile, ObjectionState
from results.models.product import ListPrice, Product, ProductAddress, ProductAlias, ProductMove
from results.models.profile import Profile
from results.models.published import PublishedClaim, PublishedFigure
from results.models.querysets import RATED_WORKLOAD
from results.models.run import Finding, Histogram, Run, Series, Share, Slice, Statistic, Tier, Verdict, Visibility
from results.models.scrub import Scrub, ScrubFault
from results.models.takedown import Takedown
from results.models.waiting import Deadline, Question, ReviewClaim, WaitingStep
from results.models.ycsb import YCSB, YcsbInterval, YcsbOperation, YcsbRun
