"""The drives that a reader types for a comparison: by slug, name, part number, or words.

If several drives have the words, the comparison has the one that is most likely comparable with the other drives, and
whose capacity is nearest to theirs.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import inf, log

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render

from results.models import Product, Run
from results.naming.addresses import moved_to
from results.rules.act.limits import Limit
from webapp.register.compare.choice import choose, refuse_missing
from webapp.register.compare.nearest import example_choice, nearest_comparable
from webapp.register.compare.page import comparison_of
from webapp.register.compare.query import FEWEST, MOST, Chosen
from webapp.register.drives.limit_check import name_of
from webapp.register.drives.order import rows_by_band
from webapp.register.drives.store.column_store import current_store
from webapp.register.drives.store.encoded_columns import ColumnStore, flags_of
from webapp.register.drives.store.ranking import current_rows, on_drives, speeds_of
from webapp.register.http.query_params import words_of
from webapp.register.products.name_search import search
from webapp.register.products.similar_names import similar_slugs
from webapp.register.tables.columns import product_of
from webapp.register.tables.sentences import product_name

FIELDS_SHOWN = 3  # of an empty form
LISTED_DRIVES = 500  # names that the form's fields suggest
OFFERED_MOST = 6  # drives offered instead of a name, or of a chosen drive
PARTNERS_MOST = 4  # drives offered for a comparison with the only one


@dataclass(frozen=True)
class NamedDrive:
    """One field of the form: the typed text, and its drive, or an error with the drives that may be meant.

    If the text names several drives, `candidates` are all of them, and `slug` is the chosen one. `is_nearest`: it was
    chosen by its capacity, otherwise by its speed.
    """

    typed: str = ""
    slug: str = ""
    error: str = ""
    offered: tuple[tuple[str, str], ...] = ()
    is_unknown: bool = False
    candidates: tuple[str, ...] = ()
    is_nearest: bool = False

    @property
    def in_address(self) -> str:
        """Return the drive as the address of a comparison has it: its slug, or the typed text if it has none."""
        return self.slug or self.typed

    @property
    def shown(self) -> str:
        """Return the content of the field when the form is shown again: the typed text, or the name of the drive."""
        return self.typed if self.error else "".join(typed_names([self.slug] if self.slug else []))


def named_drives(names: Sequence[str]) -> list[NamedDrive]:
    """Return the drive that each text names, in one query if all are slugs."""
    slugs = set(Product.objects.public().filter(slug__in=names).values_list("slug", flat=True))
    store = None if slugs.issuperset(names) else current_store()
    moved = {} if store is None else {name: moved_to(name, Product.objects.public()) for name in {*names} - slugs}
    found = [
        NamedDrive(name, moved.get(name) or name)
        if store is None or name in slugs or moved.get(name)
        else _named(store, name)
        for name in names
    ]
    found = found if store is None else _with_chosen(store, found)
    return [_once(each, found[:place]) for place, each in enumerate(found)]


def _with_chosen(store: ColumnStore, drives: Sequence[NamedDrive]) -> list[NamedDrive]:
    """Return fields with a drive chosen for each text that names several.

    The drive has a result of the category and comparison group that most fields have, then the capacity nearest to
    those of the other fields, and among equals the fastest result. No drive is chosen that another field names.
    """
    if not any(each.candidates for each in drives):
        return list(drives)
    found, capacity = list(drives), store.columns["capacity_gb"]
    flags = flags_of(current_rows(store) & on_drives(store), store.count)
    speeds, rows = speeds_of(store), store.rows_by_product
    of_common_kind = _with_common_kind(store, [each.candidates or (each.slug,) for each in drives])

    def distance(slug: str, sizes: Iterable[float]) -> float:
        """Return how far a capacity is from others, as the sum of the logarithms of the ratios."""
        own = capacity.value(rows[slug][0])
        return sum(abs(log(own / size)) for size in sizes) if own else inf

    def speed(slug: str) -> float:
        return max((speeds[row] for row in rows[slug] if flags[row]), default=-1)

    for place, each in enumerate(drives):
        if each.candidates:
            taken = {other.slug for other in found if other.slug}
            sizes = [size for slug in taken if slug in rows and (size := capacity.value(rows[slug][0]))]
            free = [slug for slug in each.candidates if slug not in taken] or list(each.candidates)
            tested = [slug for slug in free if speed(slug) >= 0] or free
            ordered = sorted(
                tested,
                key=lambda slug: (slug not in of_common_kind, round(distance(slug, sizes), 9), -speed(slug), slug),
            )
            is_nearest = bool(sizes) and distance(ordered[0], sizes) < inf
            found[place] = replace(each, slug=ordered[0], is_nearest=is_nearest)
    return found


def _with_common_kind(store: ColumnStore, options: Sequence[Sequence[str]]) -> set[str]:
    """Return the drives with a result of the category and comparison group that most of the options can have.

    If two kinds are as common, the one with the fastest result is meant.
    """
    category, speeds, rows = store.columns["category"], speeds_of(store), store.rows_by_product
    current = current_rows(store) & on_drives(store)
    bands = {code: flags_of(found & current, store.count) for code, found in rows_by_band(store).items()}
    drives_of: dict[tuple[str, str], dict[str, float]] = {}
    for slug in {slug for slugs in options for slug in slugs if slug in rows}:
        for row in rows[slug]:
            for code in (code for code, flags in bands.items() if flags[row]):
                fastest = drives_of.setdefault((category.word(row), code), {})
                fastest[slug] = max(speeds[row], fastest.get(slug, 0))
    if not drives_of:
        return set()

    def commonness(kind: tuple[str, str]) -> tuple[int, float]:
        drives = drives_of[kind]
        return sum(any(slug in drives for slug in slugs) for slugs in options), max(drives.values())

    return set(drives_of[max(drives_of, key=commonness)])


def typed_names(slugs: Iterable[str]) -> list[str]:
    """Return the text of the field of each drive: its name, or its slug if other drives have the same name."""
    store = current_store()
    rows = store.rows_by_product
    names = [(slug, name_of(store, rows[slug][0]) if slug in rows else slug) for slug in slugs]
    return [name if name == slug or _named(store, name).slug == slug else slug for slug, name in names]


def _once(drive: NamedDrive, before: Iterable[NamedDrive]) -> NamedDrive:
    if drive.slug and any(each.slug == drive.slug for each in before):
        return replace(drive, slug="", error="this drive is already selected above")
    return drive


def _named(store: ColumnStore, typed: str) -> NamedDrive:
    """Return the only drive with this name or part number, otherwise the only drive that has all its words."""
    wanted, rows = " ".join(words_of(typed)), store.rows_by_product
    exact = store.cached("drives by whole name", lambda: _by_whole_name(store)).get(wanted, ())
    if len(exact) == 1:
        return NamedDrive(typed, exact[0])
    found = search(store.names, typed)
    having = exact or sorted({store.slugs[row] for row, text in enumerate(store.names.texts) if found.matches(text)})
    is_sure = bool(wanted) and not found.sentence  # a corrected name may mean another drive, so the reader confirms it
    if is_sure and len(having) == 1:
        return NamedDrive(typed, having[0])
    if is_sure and len(having) > 1:
        return NamedDrive(typed, candidates=tuple(having))
    near = having or sorted({store.slugs[row] for row, text in enumerate(store.names.texts) if found.is_near(text)})
    meant = near if wanted and near else similar_slugs(wanted.replace(" ", "-"), list(rows), OFFERED_MOST)
    offered = tuple((slug, name_of(store, rows[slug][0])) for slug in meant[:OFFERED_MOST])
    return NamedDrive(typed, error="no drive has this name", offered=offered, is_unknown=True)


def _by_whole_name(store: ColumnStore) -> dict[str, tuple[str, ...]]:
    """Return the slugs of drives by the words of each of their names, with spaces between them."""
    found: dict[str, tuple[str, ...]] = {}
    for slug, (row, *_) in sorted(store.rows_by_product.items()):
        model, part, capacity = (store.columns[code].word(row) for code in ("model", "part_number", "capacity_gb"))
        names = {" ".join(words_of(name)) for name in (name_of(store, row), f"{model} {capacity}", part, slug)}
        found |= {name: (*found.get(name, ()), slug) for name in names if name}
    return found


def runs_drives(names: tuple[str, ...]) -> list[NamedDrive]:
    """Return the drives of runs, for the form after a single run was selected.

    Raises Http404 if a run is not public.
    """
    found = {run.public_id: run for run in Run.objects.public().filter(public_id__in=names).select_related("product")}
    refuse_missing(names, found)
    return [NamedDrive(slug, slug) for slug in (product_of(found[name]).slug for name in names)]


@dataclass(frozen=True)
class ChosenDrive:
    """A drive that the page chose for a name of several drives, with links to comparisons with the others."""

    typed: str
    name: str
    count: int
    is_nearest: bool
    others: list[tuple[str, str]]

    @property
    def others_count(self) -> int:
        """Return how many other drives the name has that are not linked."""
        return self.count - 1 - len(self.others)


@dataclass(frozen=True)
class Selection:
    """A complete query, with the drives that the page chose for names of several drives."""

    chosen: Chosen
    chosen_drives: list[ChosenDrive] = field(default_factory=list)


def select_drives(request: HttpRequest, chosen: Chosen, profile: Sequence[Limit]) -> HttpResponse | Selection:
    """Return the complete query, or the form if drives must be selected or corrected, or a redirect to slugs.

    The form has status 404 for an unknown name and 400 for a drive that is named twice. The empty form has an example,
    which is chosen by the limits of the profile. Other formats redirect to the chosen drives, so that the address of
    the file names them.
    """
    if chosen.kind == "run" and len(chosen.names) >= FEWEST:
        return Selection(chosen)
    drives = named_drives(chosen.names) if chosen.kind == "drive" else runs_drives(chosen.names)
    wrong = [each for each in drives if each.error]
    if wrong or len(drives) < FEWEST:
        status = 404 if any(each.is_unknown for each in wrong) else 400 if wrong else 200
        context = _choosing(drives, chosen) | ({} if drives else _example(chosen, profile))
        if len(drives) == 1 and not wrong:
            context["partners"] = _partners(replace(chosen, kind="drive", names=(drives[0].slug,)), profile)
        return render(request, "register/compare/choose.html", context, status=status)
    slugs = tuple(each.slug for each in drives)
    by_slug = replace(chosen, names=slugs)
    if slugs == chosen.names:
        return Selection(chosen)
    if chosen.form != "html" or not any(each.candidates for each in drives):
        return HttpResponseRedirect(by_slug.address(chosen.form))
    return Selection(by_slug, [_chosen_drive(drives, each, by_slug) for each in drives if each.candidates])


def _chosen_drive(drives: Sequence[NamedDrive], own: NamedDrive, chosen: Chosen) -> ChosenDrive:
    """Return what the page says of a chosen drive: the other drives of its name are linked, the nearest in name first.

    Each link leads to the comparison that has the other drive instead.
    """
    store = current_store()
    rows, taken = store.rows_by_product, {each.slug for each in drives}
    capacity = store.columns["capacity_gb"]
    others = sorted(
        (slug for slug in own.candidates if slug not in taken),
        key=lambda slug: (capacity.value(rows[slug][0]) or 0, slug),
    )
    links = [
        (name_of(store, rows[slug][0]), replace(chosen, names=_with_other(drives, own, slug)).address())
        for slug in others[:OFFERED_MOST]
    ]
    return ChosenDrive(own.typed, name_of(store, rows[own.slug][0]), len(own.candidates), own.is_nearest, links)


def _with_other(drives: Iterable[NamedDrive], replaced: NamedDrive, slug: str) -> tuple[str, ...]:
    """Return the names of an address with another drive instead of one."""
    return tuple(slug if each is replaced else each.in_address for each in drives)


def _example(chosen: Chosen, profile: Sequence[Limit]) -> dict[str, object]:
    """Return a comparison with the address of its page, for readers who have not chosen drives; empty without any."""
    choice = example_choice(profile)
    if choice is None:
        return {}
    comparison = comparison_of(choice, chosen.limits)
    return {"comparison": comparison, "example_address": replace(chosen, names=tuple(comparison.slugs)).address()}


def _partners(alone: Chosen, profile: Sequence[Limit]) -> list[tuple[str, str]]:
    """Return the name of each drive that compares best with the only one, with the address of that comparison."""
    runs = choose(alone, profile).runs
    nearest = nearest_comparable(runs[0], PARTNERS_MOST) if runs else []
    return [(product_name(each), replace(alone, names=(*alone.names, each.slug)).address()) for each in nearest]


def _offers(drives: Sequence[NamedDrive], wrong: NamedDrive, chosen: Chosen) -> list[tuple[str, str]]:
    """Return the name of each suggested drive, with the address of the comparison that has it instead."""
    taken = {each.slug for each in drives}
    return [
        (name, replace(chosen, names=_with_other(drives, wrong, slug)).address())
        for slug, name in wrong.offered
        if slug not in taken
    ]


def _suggestions(products: Iterable[Product]) -> list[tuple[str, str]]:
    """Return the text that a field suggests for each drive, and its name if that is another text."""
    names = {product.slug: product_name(product) for product in products}
    return [
        (typed, "" if typed == name else name) for typed, name in zip(typed_names(names), names.values(), strict=True)
    ]


def _choosing(drives: Sequence[NamedDrive], chosen: Chosen) -> dict[str, object]:
    products = Product.objects.public().order_by("vendor", "model", "capacity_gb")[:LISTED_DRIVES]
    fields = [
        (number, drive, _offers(drives, drive, chosen))
        for number, drive in enumerate([*drives, *([NamedDrive()] * (MOST - len(drives)))], 1)
    ]
    shown = min(max(FIELDS_SHOWN, len(drives) + 1), MOST)
    return {
        "section": "compare",
        "fields": fields[:shown],
        "more_fields": fields[shown:],
        "drives": _suggestions(products),
        "was_alone": len(drives) == 1 and not drives[0].error,
        "limits": chosen.limits,
        "profile_address": chosen.profile_address,
        "wrong_count": sum(bool(each.error) for each in drives),
    }
