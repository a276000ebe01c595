"""The tables of drives: one page per category, one for what is historical, and their data file."""

from django.http import Http404, HttpRequest, HttpResponse

from results.models import Category
from webapp.register.drives.all_categories import every_room
from webapp.register.drives.page import historical_room, room_of
from webapp.register.drives.responses import answer_drives
from webapp.register.drives.store.data_file import current_file
from webapp.register.http.query_params import refuse_unknown
from webapp.register.http.responses import public_page
from webapp.register.tables import categories


@public_page
def category(request: HttpRequest, category: str) -> HttpResponse:
    if category not in Category.values:
        raise Http404(f"No category of drives is named {category}.")
    return answer_drives(request, room_of(categories.SPECS[Category(category)]), "register/category.html")


@public_page
def every(request: HttpRequest) -> HttpResponse:
    return answer_drives(request, every_room(), "register/drives/every.html")


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
