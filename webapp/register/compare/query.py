"""The query of a comparison, read strictly: 2 to 6 drives, or 2 to 6 runs."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from django.http import QueryDict
from django.utils.http import urlencode

from results.rules.act.limits import Limit
from webapp.register.http.query_params import FORMAT, Parameter, ParameterError, read_parameters, words_of
from webapp.register.limits.reader_limits import YourLimits, limits_parameter

FEWEST, MOST = 2, 6
LABELS = {"drive": "Drive", "run": "Run"}  # of the parameters that name what is compared
NAME_CHARS = 120  # of the longest slug
NAME_WORDS = 24  # of a typed name, which is searched for by its words; the longest name of a drive has twelve


@dataclass(frozen=True)
class Chosen:
    """The drives or runs to compare, in the order of the address; fewer than two if the reader must still select some.

    Shares are compared with `limits`, which do not change the selection of runs.
    """

    kind: str
    names: tuple[str, ...]
    form: str = "html"
    limits: YourLimits = field(default_factory=YourLimits)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Return the parameters of the names."""
        return [(self.kind, name) for name in self.names]

    @property
    def profile_address(self) -> str:
        """Return the address of the same comparison with the profile's limits."""
        return "?" + urlencode(self.pairs)

    def address(self, form: str = "html") -> str:
        """Return the address of the same comparison in another format."""
        more = self.limits.parameters | ({"format": form} if form != "html" else {})
        return "?" + urlencode([*self.pairs, *more.items()])


def read_chosen(query: QueryDict, profile: Iterable[Limit]) -> Chosen:
    """Return the query of an address; empty fields are ignored. Raises ParameterError."""
    names = Parameter("named", LABELS, _read_names, is_repeated=True)
    found = read_parameters(query, (names, FORMAT, limits_parameter(profile)))
    return Chosen(*found.pop("named"), **found)


def _read_names(query: QueryDict) -> tuple[str, tuple[str, ...]]:
    """Return whether drives or runs are named, and their names."""
    given = {kind: [name for name in query.getlist(kind) if name] for kind in LABELS}
    if all(given.values()):
        raise ParameterError("drive", "expected either drives or runs to compare, found both; remove drive or run")
    kind = "run" if given["run"] else "drive"
    names = given[kind]
    if len(names) > MOST:
        raise ParameterError(kind, f"expected at most {MOST}, got {len(names)}")
    for name in names:
        if names.count(name) > 1:
            raise ParameterError(kind, "expected each value once", name)
        if len(name) > NAME_CHARS or "\x00" in name:
            raise ParameterError(kind, f"expected a name of at most {NAME_CHARS} characters, got {len(name)}")
        if (count := len(words_of(name))) > NAME_WORDS:
            raise ParameterError(kind, f"expected a name of at most {NAME_WORDS} words, got {count}")
    return kind, tuple(names)
