"""The search over all products."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from webapp.register.drives.found import found_products, found_sentence
from webapp.register.drives.question import read_query
from webapp.register.drives.search import search
from webapp.register.drives.shelf import current_shelf
from webapp.register.parameters import refuse_unknown, single
from webapp.register.profile import current_limits
from webapp.register.public_page import public_page


@public_page
def search_drives(request: HttpRequest) -> HttpResponse:
    refuse_unknown(request.GET, ("q",))
    query = read_query({name: single(request.GET, name) for name in request.GET})
    shelf = current_shelf()
    found = search(shelf.names, query)
    products, count = found_products(shelf, found, current_limits()) if query else ([], 0)
    context = {
        "section": "drives",
        "query": query,
        "products": products,
        "sentence": found_sentence(query, count, len(products)),
        "read_sentence": found.sentence,
    }
    return render(request, "register/search.html", context)
