"""Page of a product: its facts, runs, load ladder, certificates and history."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render

from results.models import Product, Run, Visibility
from webapp.register.http.responses import public_page
from webapp.register.limits.profile import current_limits
from webapp.register.limits.reader_limits import changes_sentence
from webapp.register.products.load_ladder import ladders_of
from webapp.register.products.page import attempts_of, capacities_of, certificates_of, history_of
from webapp.register.tables import categories, columns
from webapp.register.tables.evaluation import evaluate_limits
from webapp.register.tables.exports import runs_response
from webapp.register.tables.parameters import FASTEST_FIRST, PROFILE_ALONE, ListQuery, read_list_query
from webapp.register.tables.prices import priced_drives
from webapp.register.tables.sentences import product_name, table_sentence
from webapp.register.tables.tables import Table, TableSpec, build_table

PRODUCT_COLUMNS = {
    *(columns.DRIVE, columns.SYSTEM, columns.INSTANCE, columns.CAPACITY, columns.PCIE_GEN, columns.ENDURANCE),
    *(columns.SUSTAINED, columns.PER_TB),
}


@public_page
def product(request: HttpRequest, slug: str) -> HttpResponse:
    found = Product.objects.public().filter(slug=slug).first()
    if found is None:
        raise Http404(f"There is no drive {slug}.")
    spec = _runs_spec(found)
    query = read_list_query(request.GET, spec.columns, profile=current_limits())
    rows = list(Run.objects.filter(product=found).public().of_act().for_table())
    table = build_table(spec, rows, query, query.limits.by_threshold)
    if query.form != "html":
        return runs_response(query.form, slug, query.sort, (row.run for row in table.rows))
    return render(request, "register/products/detail.html", _context(found, rows, table, query))


def _context(product: Product, rows: Sequence[Run], table: Table, query: ListQuery) -> dict[str, Any]:
    limits = query.limits.limits
    ladders = ladders_of([run for run in rows if run.workload == "act-storage"], limits)
    ycsb_runs = sorted(Run.objects.filter(product=product).public().of_ycsb(), key=_sweep_order)
    run_ids = [run.public_id for run in (*rows, *ycsb_runs)]
    certificates = certificates_of(product)
    current = [run for run in rows if run.visibility == Visibility.PUBLIC]
    results = [evaluate_limits(f"run {row.run.public_id}", row.run, query.limits) for row in table.rows]
    return {
        "section": "drives",
        "query": query,
        "product": product,
        "name": product_name(product),
        "category": categories.spec_of(product),
        "table": table,
        "sentence": table_sentence(table, results),
        "has_no_current_result": not ycsb_runs and all(run.visibility != Visibility.PUBLIC for run in rows),
        "ycsb_runs": ycsb_runs,
        "ladders": ladders,
        "ladder_limits": limits,
        "has_ladder_charts": any(ladder["chart"] for ladder in ladders),
        "has_several_rungs": sum(len(ladder["rungs"]) for ladder in ladders) > 1,
        "certificates": certificates,
        "current_certificates": [row["certificate"] for row in certificates if row["certificate"].state == "standing"],
        "attempts": attempts_of(product),
        "capacities": capacities_of(product, limits, is_own=query.limits.is_own),
        "history": history_of(product, run_ids),
        "priced_drives": priced_drives(sorted(current, key=columns.ranked_tps, reverse=True)),
        "limits": query.limits,
        "limits_sentence": changes_sentence(query.limits, results),
        "other_parameters": [("sort", query.sort.parameter)] if query.sort != FASTEST_FIRST else [],
        "profile_address": query.address(limits=PROFILE_ALONE),
    }


def _sweep_order(run: Run) -> tuple[str, str, int, int]:
    """Return the sort key of YCSB runs: by sweep, and in thread order."""
    return run.ycsb.workload, run.ycsb.sweep_key, run.ycsb.threads_count or 0, run.pk


def _runs_spec(product: Product) -> TableSpec:
    """Return the table of a product's runs: the columns of its category without those of the product itself."""
    spec = categories.spec_of(product)
    of_runs = tuple(column for column in spec.usual if column not in PRODUCT_COLUMNS)
    return replace(spec, columns=(columns.RUN, *of_runs), is_by_vendor=False)
