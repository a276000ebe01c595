"""One reading of a visitor's log, within the limits that all visitors and processes share.

Order of the limits:

1. The uploads of the client and of the web process at the same time, before bytes are read: each occupies a thread.
2. The time of the upload.
3. The readings at the same time. Slow uploads must not occupy them.
4. The readings of the client in an hour. Only a reading that begins counts, so that the waiting time is true.
"""

import logging
import resource
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from threading import BoundedSemaphore

from django.conf import settings
from django.http import HttpRequest

from results.models.evidence import SLICE_LENGTH_DEFAULT_S
from results.reader.process import Document, FormatError, ReaderBrokenError, ReaderKilledError, ReaderLimits
from results.reader.unstored import UnstoredFiles, unstored_files
from webapp.access_limits.client_address import client_network
from webapp.access_limits.shared_limits import ANYONE, LimitReachedError, LimitsDownError, SharedLimit
from webapp.register.trial import refusals
from webapp.register.trial.refusals import HOUR_S, READER_ERRORS, Refusal, TrialRefusedError
from webapp.register.trial.slice_lengths import fitting_slice_length_s
from webapp.register.trial.uploads import UPLOAD_TIMEOUT_S, UploadTooSlowError, receive_form

logger = logging.getLogger(__name__)

# The output of a log of a day in slices of 10 s, with five histograms, is half as long. The web process parses it.
OUTPUT_BYTES_MAX = 16 * 1024**2
# A short log is read twice. Its reading holds its place for the reader's time on the clock, and for parsing the output.
# After that, the place of a killed process is free.
READINGS_OF_LOG = 2
PARSING_S = 30
# The period of an upload ends the use of a killed process.
UPLOADS_AT_ONCE, UPLOAD_PERIOD_S = 2, 2 * UPLOAD_TIMEOUT_S
# Clients that send nothing occupy threads for as long as they like, and `manage.py up` gives a web process 8 threads.
UPLOADS_OF_PROCESS = 3
_uploads_of_process = BoundedSemaphore(UPLOADS_OF_PROCESS)


def upload_limit() -> SharedLimit:
    """Return the limit on the uploads of one client network at the same time."""
    return SharedLimit("trial-uploads-of-client", UPLOADS_AT_ONCE, UPLOAD_PERIOD_S)


def hourly_limit() -> SharedLimit:
    """Return the limit on the readings of one client network."""
    return SharedLimit("trials-of-client", settings.TRIAL_READINGS_PER_HOUR, HOUR_S)


def parallel_limit() -> SharedLimit:
    """Return the limit on the readings at the same time."""
    period_s = READINGS_OF_LOG * settings.READ_TIMEOUT_S + PARSING_S
    return SharedLimit("trials-at-once", settings.TRIAL_READINGS_AT_ONCE, period_s)


@dataclass(frozen=True)
class TrialReading:
    """The reading of a log; `fitting_s` is the slice length that the register chose for a short log.

    `judged` is then the reading in the slices of the profile, which gives the verdict.
    """

    document: Document
    fitting_s: int | None = None
    judged: Document | None = None


def read_trial(request: HttpRequest) -> TrialReading:
    """Return the reading of the log in a form. Nothing of the log is left afterwards. Raises TrialRefusedError.

    Only requests that come to a reading count for the client's hourly limit.
    """
    network = client_network(request)
    try:
        with unstored_files() as files:
            slice_length_s = _receive(request, files, network)
            with _place():
                _take(hourly_limit(), network, refusals.too_often)
                return _read_or_refuse(files, slice_length_s)
    except READER_ERRORS as error:
        _log_failure(error)
        raise TrialRefusedError(refusals.of_reader(error)) from error


def _read_or_refuse(files: UnstoredFiles, chosen_s: int | None) -> TrialReading:
    """Return the reading. Refuse a log without a usable header here, while its first line can still be quoted."""
    try:
        return _read(files, chosen_s)
    except FormatError as error:
        if not refusals.is_about_header(error):
            raise
        refusal = refusals.with_quote(refusals.of_reader(error), files.first_line())
        raise TrialRefusedError(refusal) from error


def _read(files: UnstoredFiles, chosen_s: int | None) -> TrialReading:
    """Read a log in slices of the chosen length; without a choice, read a short log again in slices that fit it.

    Both readings together have the processor time of one: what the first one used is taken off.
    """
    begun, children_s = time.monotonic(), _children_cpu_s()
    document = files.read(chosen_s or SLICE_LENGTH_DEFAULT_S, reader_limits(settings.TRIAL_CPU_S))
    fitting_s = None if chosen_s else fitting_slice_length_s(document)
    # On the clock, a reading also waits for a busy machine. The processor time is that of all readings of this process
    # that ended meanwhile. Neither is less than what the reading used.
    used_s = min(time.monotonic() - begun, _children_cpu_s() - children_s)
    left_s = int(settings.TRIAL_CPU_S - used_s)
    if fitting_s is None or left_s < 1:
        return TrialReading(document)
    try:
        return TrialReading(files.read(fitting_s, reader_limits(left_s)), fitting_s, document)
    except READER_ERRORS as error:  # the first reading is complete, so the log is not refused
        logger.info("A short log of /try/ keeps its long slices: %s", type(error).__name__)
        return TrialReading(document)


def _children_cpu_s() -> float:
    """Return the processor time of all ended child processes of this process."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _log_failure(error: Exception) -> None:
    """Log the cause of a failure that is not the log's. The reader's output is not logged: it may quote the log."""
    if isinstance(error, ReaderBrokenError):
        logger.error("A reading of /try/ failed: %s, exit status %s", type(error).__name__, error.status)
    elif isinstance(error, ReaderKilledError) and refusals.of_limit(error) is None:
        logger.error("A reading of /try/ failed: %s, stopped after %s", type(error).__name__, error.allowed)


def _receive(request: HttpRequest, files: UnstoredFiles, network: str) -> int | None:
    """Write the files of the form and return the chosen slice length, as one of the uploads at the same time."""
    uploads = upload_limit()
    use = _take(uploads, network, partial(refusals.too_many_uploads, UPLOADS_AT_ONCE))
    try:
        if not _uploads_of_process.acquire(blocking=False):
            raise TrialRefusedError(refusals.uploads_busy(UPLOAD_TIMEOUT_S))
        try:
            return receive_form(request, files)
        finally:
            _uploads_of_process.release()
    except UploadTooSlowError as error:
        raise TrialRefusedError(refusals.too_slow(UPLOAD_TIMEOUT_S)) from error
    finally:
        uploads.give_back(use, network)


@contextmanager
def _place() -> Iterator[None]:
    """Hold one of the readings at the same time."""
    parallel = parallel_limit()
    use = _take(parallel, ANYONE, refusals.busy)
    try:
        yield
    finally:
        parallel.give_back(use)


def reader_limits(cpu_s: int) -> ReaderLimits:
    """Return the limits of one reading: this processor time, and less output than for a stored log."""
    stored = ReaderLimits.of_settings()
    output_bytes = min(stored.output_bytes, OUTPUT_BYTES_MAX)
    return ReaderLimits(stored.wall_s, cpu_s, stored.memory_bytes, output_bytes)


def _take(limit: SharedLimit, client: str, reached: Callable[[int], Refusal]) -> str:
    """Take a use of a limit and return its id. Raises TrialRefusedError."""
    try:
        return limit.take(client)
    except LimitReachedError as error:
        raise TrialRefusedError(reached(error.wait_s)) from error
    except LimitsDownError as error:
        raise TrialRefusedError(refusals.limits_down()) from error
