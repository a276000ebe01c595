"""The drives that a reader names for a comparison: by slug, title, part number, or words that only one of them has."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from heapq import nlargest
from itertools import pairwise

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render

from results.models import Product, Run
from webapp.register.compare.choice import refuse_missing
from webapp.register.compare.query import FEWEST, MOST, Chosen
from webapp.register.drives.limit_check import name_of
from webapp.register.drives.store.column_store import current_shelf
from webapp.register.drives.store.encoded_columns import Shelf
from webapp.register.http.parameter_errors import ParameterError
from webapp.register.http.typed_text import words_of
from webapp.register.products.names import search
from webapp.register.tables.columns import product_of
from webapp.register.tables.sentences import product_name

LISTED_DRIVES = 500  # names that the form's fields offer; of more the search finds them
OFFERED_MOST = 6  # drives that are offered for a name which several have
WORDS_MOST = 24  # of a name that is typed: the longest of a drive has a dozen, and each is looked for in all names
COMPARED_MOST = 50  # slugs that are held letter by letter against a name that no drive has
ALIKE = 0.7  # how much of two names has to be the same for one to be offered for the other


@dataclass(frozen=True)
class NamedDrive:
    """One field of the form: what was typed, the drive that it names, else what is wrong and which are meant."""

    typed: str = ""
    slug: str = ""
    error: str = ""
    offered: tuple[tuple[str, str], ...] = ()
    is_lost: bool = False

    @property
    def shown(self) -> str:
        """What the field holds when it comes back."""
        return self.typed if self.error else self.slug


def named_drives(names: Sequence[str]) -> list[NamedDrive]:
    """Return the drive that each text names; one query where all are slugs."""
    slugs = set(Product.objects.public().filter(slug__in=names).values_list("slug", flat=True))
    shelf = None if slugs.issuperset(names) else current_shelf()
    found = [NamedDrive(name, name) if shelf is None or name in slugs else _named(shelf, name) for name in names]
    return [_once(each, found[:place]) for place, each in enumerate(found)]


def _once(drive: NamedDrive, before: Iterable[NamedDrive]) -> NamedDrive:
    if drive.slug and any(each.slug == drive.slug for each in before):
        return replace(drive, slug="", error="this drive is named above already")
    return drive


def _named(shelf: Shelf, typed: str) -> NamedDrive:
    """Return the one drive whose title or part number this is; else the one that has all its words.

    Raises ParameterError where the name has more words than any has.
    """
    wanted = tuple(words_of(typed))
    if len(wanted) > WORDS_MOST:
        raise ParameterError("drive", f"expected a name of at most {WORDS_MOST} words, got {len(wanted)}")
    rows = shelf.remember("row of each drive", lambda: _row_of_each(shelf))
    exact = shelf.remember("drives by whole name", lambda: _by_whole_name(shelf, rows)).get(wanted, [])
    if len(exact) == 1:
        return NamedDrive(typed, exact[0])
    found = search(shelf.names, typed)
    having = exact or sorted({shelf.slugs[row] for row, text in enumerate(shelf.names.texts) if found.matches(text)})
    if len(having) == 1 and wanted and not found.sentence:  # a typing error may be another drive: that is asked
        return NamedDrive(typed, having[0])
    meant = having if wanted and having else _alike(shelf, "-".join(wanted), rows)
    offered = tuple((slug, name_of(shelf, rows[slug])) for slug in meant[:OFFERED_MOST])
    if wanted and len(having) > 1 and not found.sentence:
        several = f"{len(having)} drives have these words: add the capacity or the part number"
        return NamedDrive(typed, error=several, offered=offered)
    return NamedDrive(typed, error="no drive is named so", offered=offered, is_lost=True)


def _row_of_each(shelf: Shelf) -> dict[str, int]:
    return {shelf.slugs[row]: row for row in reversed(range(shelf.count))}


def _by_whole_name(shelf: Shelf, rows: Mapping[str, int]) -> dict[tuple[str, ...], list[str]]:
    """Return the drives by the words of each of their names; none by a name without words."""
    found: dict[tuple[str, ...], dict[str, None]] = {}
    for slug, row in rows.items():
        for name in _whole_names(shelf, row):
            found.setdefault(tuple(name), {})[slug] = None
    return {name: sorted(slugs) for name, slugs in found.items() if name}


def _alike(shelf: Shelf, name: str, rows: Iterable[str]) -> list[str]:
    """Return the slugs most like a name, most alike first; letter by letter only those with most pairs of letters."""
    pairs = shelf.remember("pairs of letters of each drive", lambda: {slug: _pairs(slug) for slug in rows})
    own = _pairs(name)
    among = nlargest(COMPARED_MOST, pairs, key=lambda slug: len(own & pairs[slug]) / (len(own) + len(pairs[slug]) or 1))
    return get_close_matches(name, among, OFFERED_MOST, ALIKE)


def _pairs(text: str) -> set[tuple[str, str]]:
    return set(pairwise(text))


def _whole_names(shelf: Shelf, row: int) -> list[list[str]]:
    model, part, capacity = (shelf.columns[code].word(row) for code in ("model", "part_number", "capacity_gb"))
    return [words_of(each) for each in (name_of(shelf, row), f"{model} {capacity}", part, shelf.slugs[row]) if each]


def runs_drives(names: tuple[str, ...]) -> list[NamedDrive]:
    """Return the drives of runs: a run that is chosen alone is the first of a choice of drives.

    Raises Http404 where one is not there for everyone to see.
    """
    found = {run.public_id: run for run in Run.objects.public().filter(public_id__in=names).select_related("product")}
    refuse_missing(names, found)
    return [NamedDrive(slug, slug) for slug in (product_of(found[name]).slug for name in names)]


def asked_otherwise(request: HttpRequest, chosen: Chosen) -> HttpResponse | None:
    """Return the form where there is something to choose or correct, or the address with slugs; None where all is said.

    A name that no drive has is answered 404, one that several have 400: both with the form as it was filled in.
    """
    if chosen.kind == "run" and chosen.is_enough:
        return None
    drives = named_drives(chosen.names) if chosen.kind == "drive" else runs_drives(chosen.names)
    wrong = [each for each in drives if each.error]
    if wrong or len(drives) < FEWEST:
        status = 404 if any(each.is_lost for each in wrong) else 400 if wrong else 200
        return render(request, "register/compare/choose.html", _choosing(drives, chosen), status=status)
    slugs = tuple(each.slug for each in drives)
    return None if slugs == chosen.names else HttpResponseRedirect(replace(chosen, names=slugs).address(chosen.form))


def _choosing(drives: Sequence[NamedDrive], chosen: Chosen) -> dict[str, object]:
    products = Product.objects.public().order_by("vendor", "model", "capacity_gb")[:LISTED_DRIVES]
    return {
        "section": "compare",
        "fields": [*drives, *([NamedDrive()] * (MOST - len(drives)))],
        "drives": [(product.slug, product_name(product)) for product in products],
        "was_alone": len(drives) == 1 and not drives[0].error,
        "limits": chosen.limits,
        "profile_address": chosen.profile_address,
        "wrong_count": sum(bool(each.error) for each in drives),
    }
