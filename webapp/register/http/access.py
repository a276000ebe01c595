"""Access to runs that are not public: for its secret link, its organisation, and reviewers.

A run that is withheld by a takedown is open to operators only.
"""

from django.http import Http404, HttpRequest, QueryDict

from results.access.links import is_opened_by
from results.access.withholding import refuse_sequestered
from results.lifecycle.objections import is_partial
from results.models import Objection, Run, Visibility
from results.models.objection import BEFORE_ADMISSION
from webapp.accounts.models import User
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


def require_objection_access(request: HttpRequest, public_id: str, objection: Objection | None) -> Objection:
    """Return the objection if the client may read it; otherwise raise Http404 as for one that does not exist.

    A takedown of its run withholds it. Raises SequesteredError then, for clients who could read it before.
    """
    if objection is not None and (objection.is_admitted or _may_read_unadmitted(request.user, objection)):
        if objection.run.visibility == Visibility.SEQUESTERED:
            _require_operator(request, objection.run)
        return objection
    _ = request.user.is_authenticated  # so that both responses have the same headers
    raise Http404(f"No objection is named {public_id}.")


def _may_read_unadmitted(user: object, objection: Objection) -> bool:
    """Return whether a user reads an objection that is not public: its filer, and reviewers who may decide about it.

    Operators read it as long as it waits for a reviewer.
    """
    if not isinstance(user, User):
        return False
    is_waiting = objection.state in BEFORE_ADMISSION
    return (
        objection.filed_by_id == user.pk
        or (may(user, Action.REVIEW) and not is_partial(objection, user))
        or (is_waiting and may(user, Action.OPERATE))
    )
