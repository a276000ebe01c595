"""The tables of drives: one page per category, one for what is historical, one per product."""

from dataclasses import replace

from django.http import Http404, HttpRequest, HttpResponse

from results.models import Category, Product, Run
from webapp.register import categories, columns
from webapp.register.certificates import attempts_of, certificates_of
from webapp.register.drives.answers import answer_drives
from webapp.register.drives.data_file import current_file
from webapp.register.drives.page import historical_room, room_of
from webapp.register.ladder import ladders_of
from webapp.register.listing import Listing, answer
from webapp.register.parameters import read_question, refuse_unknown
from webapp.register.profile import current_limits, limits_by_threshold
from webapp.register.public_page import public_page
from webapp.register.sentences import product_name, table_sentence
from webapp.register.tables import TableSpec, build_table
from webapp.register.ycsb_page import points_of

NOT_OF_A_RUN = {
    *(columns.DRIVE, columns.SYSTEM, columns.INSTANCE, columns.CAPACITY, columns.PCIE_GEN, columns.ENDURANCE),
    *(columns.SUSTAINED, columns.PER_TB),
}


@public_page
def category(request: HttpRequest, category: str) -> HttpResponse:
    if category not in Category.values:
        raise Http404(f"No category of drives is named {category}.")
    return answer_drives(request, room_of(categories.SPECS[Category(category)]), "register/category.html")


@public_page
def historical(request: HttpRequest) -> HttpResponse:
    room = historical_room([categories.historical_spec(category) for category in Category])
    return answer_drives(request, room, "register/historical.html")


@public_page
def data(request: HttpRequest) -> HttpResponse:
    refuse_unknown(request.GET, ())
    plain, compressed = current_file()
    is_compressed = "gzip" in request.headers.get("Accept-Encoding", "")
    response = HttpResponse(compressed if is_compressed else plain, content_type="application/json")
    response["Vary"] = "Accept-Encoding"
    if is_compressed:
        response["Content-Encoding"] = "gzip"
    return response


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
