"""The search over all products."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from webapp.register.drives.query import read_query
from webapp.register.drives.search.query import lookup
from webapp.register.drives.search.results import found_products, found_sentence
from webapp.register.drives.store.column_store import current_shelf
from webapp.register.http.query_params import given_of
from webapp.register.http.responses import public_page
from webapp.register.limits.profile import current_limits


@public_page
def search_drives(request: HttpRequest) -> HttpResponse:
    query = read_query(given_of(request.GET, ("q",)))
    shelf = current_shelf()
    asked = lookup(shelf, query)
    products, count = found_products(shelf, asked, current_limits()) if query else ([], 0)
    context = {
        "section": "drives",
        "query": query,
        "products": products,
        "sentence": found_sentence(query, count, len(products)),
        "read_sentence": asked.sentence if query else "",
    }
    return render(request, "register/search.html", context)
