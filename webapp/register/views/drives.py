"""The tables of drives: one page per category, one for what is historical, one per product."""

from dataclasses import replace

from django.http import Http404, HttpRequest, HttpResponse

from results.models import Category, Product, Run
from webapp.register import categories, columns
from webapp.register.certificates import attempts_of, certificates_of
from webapp.register.ladder import ladders_of
from webapp.register.listing import Listing, answer, hidden_as_historical, hidden_as_marked, shown
from webapp.register.parameters import Question, read_question
from webapp.register.profile import current_limits, limits_by_threshold
from webapp.register.public_page import public_page
from webapp.register.sentences import product_name, results_sentence, table_sentence
from webapp.register.tables import Table, TableSpec, build_table
from webapp.register.ycsb_page import points_of

NOT_OF_A_RUN = {columns.DRIVE, columns.SYSTEM, columns.INSTANCE, columns.CAPACITY, columns.PCIE_GEN, columns.ENDURANCE}


@public_page
def category(request: HttpRequest, category: str) -> HttpResponse:
    if category not in Category.values:
        raise Http404(f"No category of drives is named {category}.")
    spec = categories.SPECS[Category(category)]
    question = read_question(request.GET, spec.columns)
    runs = Run.objects.rated().in_category(category)
    table = build_table(spec, shown(runs.current(), question), question, limits_by_threshold(current_limits()))
    hidden = [hidden_as_historical(runs.historical(), category), *hidden_as_marked(runs.current(), question)]
    listing = Listing(category, [table], hidden, question)
    return answer(request, listing, "register/category.html", {"table": table, "sentence": table_sentence(table)})


@public_page
def historical(request: HttpRequest) -> HttpResponse:
    every_column = {column for spec in categories.SPECS.values() for column in spec.columns}
    question = read_question(request.GET, every_column)
    runs = Run.objects.rated().historical()
    tables = _historical_tables(list(shown(runs, question)), question)
    listing = Listing(categories.HISTORICAL, tables, hidden_as_marked(runs, question), question)
    sentence = results_sentence([row for table in tables for row in table.rows])
    context = {"title": categories.HISTORICAL_TITLE, "sentence": sentence}
    return answer(request, listing, "register/historical.html", context)


def _historical_tables(runs: list[Run], question: Question) -> list[Table]:
    limits = limits_by_threshold(current_limits())
    by_category = {
        category: [run for run in runs if columns.product_of(run).category == category] for category in Category
    }
    return [
        build_table(categories.historical_spec(category), same, question, limits)
        for category, same in by_category.items()
        if same
    ]


@public_page
def product(request: HttpRequest, slug: str) -> HttpResponse:
    found = Product.objects.public().filter(slug=slug).first()
    if found is None:
        raise Http404(f"No drive is named {slug}.")
    spec = _runs_spec(found)
    question = read_question(request.GET, spec.columns, can_hide=False)
    runs, limits = Run.objects.filter(product=found).public(), current_limits()
    rows = list(runs.of_act().for_table())
    table = build_table(spec, rows, question, limits_by_threshold(limits))
    listing = Listing(slug, [table], [], question)
    context = {
        "product": found,
        "name": product_name(found),
        "category": categories.spec_of(found),
        "table": table,
        "sentence": table_sentence(table),
        "ycsb_points": points_of(runs.of_ycsb()),
        "ladders": ladders_of([run for run in rows if run.workload == "act-storage"], limits),
        "certificates": certificates_of(found),
        "attempts": attempts_of(found),
    }
    return answer(request, listing, "register/product.html", context)


def _runs_spec(product: Product) -> TableSpec:
    """Return the table of a product's runs: its category's columns without what is the product's own."""
    spec = categories.spec_of(product)
    of_runs = tuple(column for column in spec.columns if column not in NOT_OF_A_RUN)
    return replace(spec, columns=(columns.RUN, *of_runs), is_by_vendor=False)
