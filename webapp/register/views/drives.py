"""The tables of drives: one page per category, one for what is historical."""

from django.http import Http404, HttpRequest, HttpResponse

from results.models import Category, Run
from webapp.register import categories, columns
from webapp.register.listing import Listing, answer, hidden_as_historical, hidden_as_marked, shown
from webapp.register.parameters import Question, read_question
from webapp.register.profile import current_limits, limits_by_threshold
from webapp.register.public_page import public_page
from webapp.register.sentences import results_sentence, table_sentence
from webapp.register.tables import Table, build_table


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
