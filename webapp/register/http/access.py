"""Access to runs that are not public: for its secret link, its organisation, and reviewers.

A run that is withheld by a takedown is open to operators only.
"""

from django.http import Http404, HttpRequest, QueryDict

from results.access.links import is_opened_by
from results.access.withholding import refuse_sequestered
from results.models import Run, Visibility
from webapp.accounts.permissions import NO_ORGANISATION, Action, may
from webapp.register.http.query_params import Parameter, ParameterError

LINK_KEY = "key"  # the parameter of every address of a run by which a link shows it
EXAMPLE_KEY = "pW3xTq8ZbN0yLr5cKd7vHg"  # of the length of `new_link_key`, for error messages
EVERYONE = frozenset({Visibility.PUBLIC, Visibility.SUPERSEDED, Visibility.WITHDRAWN})


def _read_link_key(query: QueryDict) -> str:
    """Return the key of an address; a wrong one leads to the same response as none, so it is not checked here."""
    keys = query.getlist(LINK_KEY)
    if len(keys) > 1:
        expected = f"expected one key, such as {LINK_KEY}={EXAMPLE_KEY}, found {len(keys)}"
        raise ParameterError(LINK_KEY, expected)
    return str(query.get(LINK_KEY, ""))


LINK_PARAMETER = Parameter("link_key", {LINK_KEY: "Key of the secret link"}, _read_link_key, is_repeated=True)


def is_public(run: Run) -> bool:
    """Return whether everyone may open the run's page: public runs, and the register's example runs, which no list has.

    This reads no session, so that public pages are the same for everyone.
    """
    return run.visibility in EVERYONE and (run.is_demo or (run.product_id is not None and not run.is_virtual))


def require_access(request: HttpRequest, public_id: str, run: Run | None) -> Run:
    """Return the run if the reader may see it; otherwise raise Http404 as for a run that does not exist.

    The two responses must be identical, headers included: both read the user, which adds the cookie to Vary. They must
    also take the same time: both ask for the membership, and callers load related rows only afterwards.
    Raises SequesteredError for a withheld run, unless the reader is an operator.
    """
    if run is not None and run.visibility == Visibility.SEQUESTERED:
        return _require_operator(request, run)
    if run is not None and (is_public(run) or holds_link(request, run)):
        return run
    user = request.user
    is_reader = may_see(user, run)
    if user.is_authenticated and run is not None and is_reader:
        return run
    raise Http404(f"No run is named {public_id}.")


def _require_operator(request: HttpRequest, run: Run) -> Run:
    if not may(request.user, Action.OPERATE):
        refuse_sequestered(run)
    return run


def holds_link(request: HttpRequest, run: Run) -> bool:
    """Return whether the address has the key of the run's submission."""
    return run.submission is not None and is_opened_by(run.submission, request.GET.get(LINK_KEY, ""))


def may_see(user: object, run: Run | None) -> bool:
    """Return whether a user is a reviewer or a member of the organisation that submitted the run."""
    return may(user, Action.READ, run.submission.organisation_id if run and run.submission else NO_ORGANISATION)
