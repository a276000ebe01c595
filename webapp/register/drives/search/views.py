"""The search over all products."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from webapp.register.drives.query import read_search_text
from webapp.register.drives.search.query import lookup
from webapp.register.drives.search.results import found_products, found_sentence
from webapp.register.drives.store.column_store import current_store
from webapp.register.http.query_params import given_of
from webapp.register.http.responses import public_page
from webapp.register.limits.profile import current_limits


@public_page
def search_drives(request: HttpRequest) -> HttpResponse:
    query = read_search_text(given_of(request.GET, ("q",)))
    store = current_store()
    product_query = lookup(store, query)
    products, count = found_products(store, product_query, current_limits()) if query else ([], 0)
    context = {
        "section": "drives",
        "query": query,
        "products": products,
        "sentence": found_sentence(query, count, len(products)),
        "read_sentence": product_query.sentence if query else "",
    }
    return render(request, "register/drives/search.html", context)
