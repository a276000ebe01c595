"""What a reader may ask of a list page, read strictly: a word that is not understood is refused, never ignored."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from django.http import QueryDict
from django.utils.http import urlencode

from results.rules.limits import Limit
from webapp.register.columns import Column
from webapp.register.not_understood import ParameterError
from webapp.register.your_limits import YourLimits, limit_names, read_limits

FORMS = ("html", "csv", "json")
NAMES = ("sort", "format", "withdrawn", "superseded")
NAMES_WHERE_NOTHING_HIDES = ("sort", "format")
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
    with_withdrawn: bool
    with_superseded: bool = False
    limits: YourLimits = PROFILE_ALONE

    def address(
        self,
        *,
        sort: Sort | None = None,
        form: str = "html",
        with_withdrawn: bool | None = None,
        with_superseded: bool | None = None,
        limits: YourLimits | None = None,
    ) -> str:
        """Return the query of the same page, asked otherwise; defaults are left out, so that addresses stay short."""
        asked = sort or self.sort
        withdrawn = self.with_withdrawn if with_withdrawn is None else with_withdrawn
        superseded = self.with_superseded if with_superseded is None else with_superseded
        parameters = {
            **(self.limits if limits is None else limits).parameters,
            "sort": asked.parameter if asked != FASTEST_FIRST else "",
            "withdrawn": "include" if withdrawn else "",
            "superseded": "include" if superseded else "",
            "format": form if form != "html" else "",
        }
        return "?" + urlencode({name: text for name, text in parameters.items() if text})


def read_question(
    query: QueryDict, columns: Collection[Column], *, can_hide: bool = True, profile: Iterable[Limit] = ()
) -> Question:
    """Return what was asked; `can_hide` where the page may leave out withdrawn and superseded rows.

    `profile` are the limits that a reader may replace by their own on the page, none where it has no use for limits.
    Raises ParameterError, naming the parameter, for anything that is not understood.
    """
    given = {name: single(query, name) for name in query}
    own = tuple(profile)
    refuse_unknown(given, (*(NAMES if can_hide else NAMES_WHERE_NOTHING_HIDES), *limit_names(own)))
    codes = {column.code for column in columns if column.is_sortable}
    return Question(
        sort=read_sort(given["sort"], codes) if "sort" in given else FASTEST_FIRST,
        form=one_of(given, "format", FORMS),
        with_withdrawn=is_included(given, "withdrawn"),
        with_superseded=is_included(given, "superseded"),
        limits=read_limits(given, own),
    )


def single(query: QueryDict, name: str) -> str:
    """Return the one text of a parameter."""
    texts = query.getlist(name)
    if len(texts) != 1:
        raise ParameterError(f"{name}: expected once, got {len(texts)} times")
    return str(texts[0])


def refuse_unknown(given: Iterable[str], names: Collection[str]) -> None:
    """Refuse parameters that a page does not have."""
    for name in given:
        if name not in names:
            raise ParameterError(f"{name}: expected one of the parameters {', '.join(names)}")


def read_sort(text: str, codes: Collection[str]) -> Sort:
    """Return the column to sort by, and the direction."""
    sort = Sort(text.removeprefix("-"), falls=text.startswith("-"))
    if sort.code not in codes:
        raise ParameterError(f"sort={text}: expected one of {', '.join(sorted(codes))}, with - before it to fall")
    return sort


def is_included(given: Mapping[str, str], name: str) -> bool:
    """Tell whether rows that are left out otherwise are asked for."""
    return one_of(given, name, ("leave-out", "include")) == "include"


def one_of(given: Mapping[str, str], name: str, words: tuple[str, ...]) -> str:
    """Return one of several words, the first where none is given."""
    word = given.get(name, words[0])
    if word not in words:
        raise ParameterError(f"{name}={word}: expected one of {', '.join(words)}")
    return word
