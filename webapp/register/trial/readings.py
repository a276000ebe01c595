"""One reading of a visitor's log, within the limits that all visitors and processes share.

Order of the limits: first the client's own limit, before its bytes arrive, so that a client cannot occupy the register
with uploads. Then the upload. Then one of the few readings at the same time, which slow uploads must not occupy.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from django.conf import settings
from django.http import HttpRequest

from results.reader.process import Document, ReaderLimits
from results.reader.unstored import unstored_files
from webapp.access_limits.client_address import client_network
from webapp.access_limits.shared_limits import ANYONE, LimitReachedError, LimitsDownError, SharedLimit
from webapp.register.trial import refusals
from webapp.register.trial.refusals import HOUR_S, READER_ERRORS, Refusal, TrialRefusedError
from webapp.register.trial.uploads import receive_form

# The output of a log of a day in slices of 10 s, with five histograms, is half as long. The web process parses it.
OUTPUT_BYTES_MAX = 16 * 1024**2
# A reading holds its place for the reader's time on the clock, and for parsing the output. After that, the place of a
# killed process is free.
PARSING_S = 30


def hourly_limit() -> SharedLimit:
    """Return the limit on the readings of one client network."""
    return SharedLimit("trials-of-client", settings.TRIAL_READINGS_PER_HOUR, HOUR_S)


def parallel_limit() -> SharedLimit:
    """Return the limit on the readings at the same time."""
    return SharedLimit("trials-at-once", settings.TRIAL_READINGS_AT_ONCE, settings.READ_TIMEOUT_S + PARSING_S)


def read_trial(request: HttpRequest) -> Document:
    """Return the reading of the log in a form. Nothing of the log is left afterwards. Raises TrialRefusedError.

    Only requests that come to a reading count for the client's limit.
    """
    hourly, network = hourly_limit(), client_network(request)
    use = _take(hourly, network, refusals.too_often)
    is_counted = False
    try:
        with unstored_files() as files:
            slice_length_s = receive_form(request, files)
            with _place():
                is_counted = True
                return files.read(slice_length_s, reader_limits())
    except READER_ERRORS as error:
        raise TrialRefusedError(refusals.of_reader(error)) from error
    finally:
        if not is_counted:
            hourly.give_back(use, network)


@contextmanager
def _place() -> Iterator[None]:
    """Hold one of the readings at the same time."""
    parallel = parallel_limit()
    use = _take(parallel, ANYONE, refusals.busy)
    try:
        yield
    finally:
        parallel.give_back(use)


def reader_limits() -> ReaderLimits:
    """Return the limits of one reading: less processor time and output than for a stored log."""
    stored = ReaderLimits.of_settings()
    output_bytes = min(stored.output_bytes, OUTPUT_BYTES_MAX)
    return ReaderLimits(stored.wall_s, settings.TRIAL_CPU_S, stored.memory_bytes, output_bytes)


def _take(limit: SharedLimit, client: str, reached: Callable[[int], Refusal]) -> str:
    """Take a use of a limit and return its id. Raises TrialRefusedError."""
    try:
        return limit.take(client)
    except LimitReachedError as error:
        raise TrialRefusedError(reached(error.wait_s)) from error
    except LimitsDownError as error:
        raise TrialRefusedError(refusals.limits_down()) from error
