"""The tables of drives: a page per category, one for all, one for historical products, and their data file."""

from django.http import Http404, HttpRequest, HttpResponse

from results.models import Category
from webapp.register.drives.all_categories import all_categories_layout
from webapp.register.drives.page import category_layout, historical_layout
from webapp.register.drives.responses import drives_response
from webapp.register.drives.store.data_file import current_file
from webapp.register.http.query_params import refuse_unknown
from webapp.register.http.responses import public_page
from webapp.register.tables import categories


@public_page
def category(request: HttpRequest, category: str) -> HttpResponse:
    if category not in Category.values:
        raise Http404(f"No category of drives is named {category}.")
    layout = category_layout(categories.SPECS[Category(category)])
    return drives_response(request, layout, "register/drives/category.html")


@public_page
def all_categories(request: HttpRequest) -> HttpResponse:
    return drives_response(request, all_categories_layout(), "register/drives/all_categories.html")


@public_page
def historical(request: HttpRequest) -> HttpResponse:
    layout = historical_layout([categories.historical_spec(category) for category in Category])
    return drives_response(request, layout, "register/drives/historical.html")


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
