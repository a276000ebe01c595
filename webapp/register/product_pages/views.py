"""Page of a product: its answer, position and alternatives, then its runs, certificates and history."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from results.certification.certificates import attempts
from results.models import RATED_WORKLOAD, Certificate, Product, Run, Visibility
from results.products.facts import current_prices
from webapp.register.drives.store.column_store import current_store
from webapp.register.http.former_slugs import follows_renames
from webapp.register.http.responses import public_page
from webapp.register.limits.profile import current_limits
from webapp.register.limits.reader_limits import LOAD, YourLimits, changes_sentence, has_plain_load, read_limits
from webapp.register.objections.page import prominent_lines_of
from webapp.register.product_pages.alternatives import capacities_address, capacities_of, other_drives
from webapp.register.product_pages.answer import answer_sentence, short_noun
from webapp.register.product_pages.comparable import Comparison, DriveComparer
from webapp.register.product_pages.distribution import distribution_of
from webapp.register.product_pages.evidence import evidence_sentence, publication_of
from webapp.register.product_pages.headline import Headline, headline_of
from webapp.register.product_pages.load import load_sentences
from webapp.register.product_pages.load_ladder import ladders_of, missing_ladder_sentence
from webapp.register.product_pages.page import attempts_view, certificates_of, history_of
from webapp.register.product_pages.position import position_view, speed_position
from webapp.register.runs.requirements import requirements_view
from webapp.register.tables import categories, columns
from webapp.register.tables.endurance_gap import gap_of
from webapp.register.tables.evaluation import evaluate_limits
from webapp.register.tables.exports import runs_response
from webapp.register.tables.parameters import FASTEST_FIRST, PROFILE_ALONE, ListQuery, read_list_query
from webapp.register.tables.prices import priced_drives
from webapp.register.tables.rating_origin import rating_origin
from webapp.register.tables.sentences import product_name, table_sentence
from webapp.register.tables.tables import Table, TableSpec, build_table
from webapp.templatetags import units

PRODUCT_COLUMNS = {
    *(columns.DRIVE, columns.SYSTEM, columns.INSTANCE, columns.CAPACITY, columns.PCIE_GEN, columns.ENDURANCE),
    *(columns.SUSTAINED, columns.PER_TB),
}


@public_page
@follows_renames
def product(request: HttpRequest, slug: str) -> HttpResponse:
    found = Product.objects.public().filter(slug=slug).first()
    if found is None:
        raise Http404(f"There is no drive {slug}.")
    spec = _runs_spec(found)
    query = read_list_query(request.GET, spec.columns, profile=current_limits(), has_load=True)
    if not has_plain_load(request.GET, query.load_tps):
        return redirect(f"{request.path}{query.address(form=query.form)}")
    runs = Run.objects.filter(product=found).public().of_act().for_table()
    rows = list(runs.select_related("reading__evidence").order_by("pk"))  # equal results have one order everywhere
    table = build_table(spec, rows, query, query.limits.by_threshold)
    if query.form != "html":
        return runs_response(query.form, slug, query.sort, (row.run for row in table.rows))
    return render(request, "register/products/detail.html", _context(found, rows, table, query))


def _context(product: Product, rows: Sequence[Run], table: Table, query: ListQuery) -> dict[str, Any]:
    ycsb_runs = sorted(Run.objects.filter(product=product).public().of_ycsb().order_by("pk"), key=_sweep_order)
    run_ids = [run.public_id for run in (*rows, *ycsb_runs)]
    certificates = certificates_of(product)
    standing = [row["certificate"] for row in certificates if row["certificate"].state == Certificate.State.STANDING]
    results = [evaluate_limits(f"run {row.run.public_id}", row.run, query.limits) for row in table.rows]
    current = [run for run in rows if run.visibility == Visibility.PUBLIC]
    has_ycsb = any(run.visibility == Visibility.PUBLIC for run in ycsb_runs)
    headline = headline_of(rows, query.limits, has_ycsb=has_ycsb)
    found = attempts(product)
    return _answer_context(product, rows, headline, standing) | {
        "section": "drives",
        "query": query,
        "product": product,
        "load_sentences": load_sentences(product, rows, query.limits, query.load_tps),
        "load_field": {"name": LOAD, "text": units.count(query.load_tps) if query.load_tps else ""},
        "name": product_name(product),
        "rating_origin": rating_origin(product) if product.endurance_dwpd else "",
        "cited_run": headline_of(rows, read_limits({}, current_limits()), has_ycsb=has_ycsb).run,
        "evidence": evidence_sentence(current),
        "publication": publication_of(current),
        "category": categories.spec_of(product),
        "list_prices": list(current_prices(product)),
        "table": table,
        "sentence": table_sentence(table, results),
        "has_no_current_result": not has_ycsb and all(run.visibility != Visibility.PUBLIC for run in rows),
        "ycsb_runs": ycsb_runs,
        "certificates": certificates,
        "current_certificates": standing,
        "attempts": attempts_view(found),
        "requirements": None if standing or headline.run is None else requirements_view(headline.run),
        "history": history_of(product, run_ids),
        "objections": prominent_lines_of(product),
        "priced_drives": priced_drives(sorted(current, key=columns.ranked_tps, reverse=True)),
        "limits": query.limits,
        "limits_sentence": changes_sentence(query.limits, results),
        "other_parameters": [("sort", query.sort.parameter)] if query.sort != FASTEST_FIRST else [],
        "profile_address": query.address(limits=PROFILE_ALONE),
    }


def _answer_context(
    product: Product, rows: Sequence[Run], headline: Headline, standing: Sequence[Certificate]
) -> dict[str, Any]:
    """Return the context of the first screen."""
    limits, run = headline.limits, headline.run
    comparison = _comparison(product, headline)
    position = speed_position(comparison) if comparison else None
    capacities = capacities_of(product, limits)
    return (
        {
            "answer": answer_sentence(headline, position, standing, product.category, historical=product.historical),
            "headline": headline,
            "gap": gap_of(run) if run else None,
            "noun": short_noun(product.category),
            "capacities": capacities,
            "capacities_address": capacities_address(capacities, limits),
            "first_threshold_us": limits.fields[0].threshold_us,
        }
        | _charts_context(rows, headline)
        | _comparison_context(comparison, limits, is_historical=product.historical)
    )


def _comparison(product: Product, headline: Headline) -> Comparison | None:
    """Return the comparison of the headline with other drives; None for a result that is not ranked."""
    return DriveComparer(current_store(), headline.limits).comparison(product, headline.run) if headline.run else None


def _comparison_context(comparison: Comparison | None, limits: YourLimits, *, is_historical: bool) -> dict[str, Any]:
    if comparison is None:
        return {"position": None, "neighbours": None}
    has_others = bool(comparison.others or comparison.everywhere)
    return {
        "position": position_view(comparison, limits, is_historical=is_historical),
        "neighbours": other_drives(comparison, limits, is_historical=is_historical) if has_others else None,
    }


def _charts_context(rows: Sequence[Run], headline: Headline) -> dict[str, Any]:
    """Return the ladders, or without one the distribution of the headline's run."""
    rated = [run for run in rows if run.workload == RATED_WORKLOAD]
    ladders = ladders_of(rated, headline.limits.limits)
    shown = headline.run is not None and not ladders
    return {
        "ladders": ladders,
        "no_ladder": "" if ladders else missing_ladder_sentence(rated),
        "distribution": distribution_of(headline.run, headline.limits.limits) if shown and headline.run else None,
    }


def _sweep_order(run: Run) -> tuple[str, str, int, int]:
    """Return the sort key of YCSB runs: by sweep, and in thread order."""
    return run.ycsb.workload, run.ycsb.sweep_key, run.ycsb.threads_count or 0, run.pk


def _runs_spec(product: Product) -> TableSpec:
    """Return the table of a product's runs: the columns of its category without those of the product, and the load."""
    spec = categories.spec_of(product)
    of_runs = [column for column in spec.usual if column not in PRODUCT_COLUMNS]
    of_runs.insert(of_runs.index(columns.SPEED) + 1, columns.LOAD)
    return replace(spec, columns=(columns.RUN, *of_runs), size_label="Load")
