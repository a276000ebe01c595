"""What a reader may ask of a list page, read strictly: a word that is not understood is refused, never ignored."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from django.http import QueryDict
from django.utils.http import urlencode

from results.rules.act.limits import Limit
from webapp.register.http.parameter_errors import ParameterError
from webapp.register.http.query_params import FORMS, given_of, one_of
from webapp.register.limits.reader_limits import YourLimits, limit_names, read_limits
from webapp.register.tables.columns import Column

NAMES = ("sort", "format")
PROFILE_ALONE = YourLimits()


@dataclass(frozen=True)
class Sort:
    """The column that rows stand in order of, and the direction."""

    code: str
    falls: bool

    @property
    def parameter(self) -> str:
        """The sort as it stands in an address."""
        return f"-{self.code}" if self.falls else self.code


FASTEST_FIRST = Sort("tps", falls=True)


@dataclass(frozen=True)
class Question:
    """What a reader asks of a list page."""

    sort: Sort
    form: str
    limits: YourLimits = PROFILE_ALONE

    def address(
        self,
        *,
        sort: Sort | None = None,
        form: str = "html",
        limits: YourLimits | None = None,
    ) -> str:
        """Return the query of the same page, asked otherwise; defaults are left out, so that addresses stay short."""
        asked = sort or self.sort
        parameters = {
            **(self.limits if limits is None else limits).parameters,
            "sort": asked.parameter if asked != FASTEST_FIRST else "",
            "format": form if form != "html" else "",
        }
        return "?" + urlencode({name: text for name, text in parameters.items() if text})


def read_question(query: QueryDict, columns: Collection[Column], *, profile: Iterable[Limit] = ()) -> Question:
    """Return what was asked of a page that shows every row.

    `profile` are the limits that a reader may replace by their own on the page, none where it has no use for limits.
    Raises ParameterError, naming the parameter, for anything that is not understood.
    """
    own = tuple(profile)
    given = given_of(query, (*NAMES, *limit_names(own)))
    codes = {column.code for column in columns if column.is_sortable}
    return Question(
        sort=read_sort(given["sort"], codes) if "sort" in given else FASTEST_FIRST,
        form=one_of(given, "format", FORMS),
        limits=read_limits(given, own),
    )


def read_sort(text: str, codes: Collection[str]) -> Sort:
    """Return the column to sort by, and the direction."""
    sort = Sort(text.removeprefix("-"), falls=text.startswith("-"))
    if sort.code not in codes:
        raise ParameterError(
            "sort", f"expected one of {', '.join(sorted(codes))}; put - before it for the largest first", text
        )
    return sort


def is_included(given: Mapping[str, str], name: str) -> bool:
    """Tell whether rows that are left out otherwise are asked for."""
    return one_of(given, name, ("leave-out", "include")) == "include"
