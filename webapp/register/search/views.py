"""The search page, and the names that its field offers."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from webapp.register.drives.query import read_search_text
from webapp.register.drives.search import (
    SHOWN_AT_MOST,
    current_first,
    found_products,
    found_sentence,
    lookup,
    neighbours,
    neighbours_sentence,
    products_of,
    substitutes,
    substitutes_sentence,
)
from webapp.register.drives.store.column_store import current_store
from webapp.register.fleet.nearest import CONSUMER_WARNING, is_consumer_name
from webapp.register.http.query_params import Parameter, read_parameters, words_of
from webapp.register.http.responses import public_page
from webapp.register.limits.profile import current_limits
from webapp.register.search.groups import found_groups, named_groups
from webapp.register.search.names import offered_names
from webapp.register.search.questions import comparison_link, fastest_drives, makers_table, named_makers, speed_question

SEARCH_TEXT = Parameter("q", {"q": "Search"}, read_search_text)


@public_page
def search(request: HttpRequest) -> HttpResponse:
    """Show the drives that match, or their neighbours, and then the publications, claims, terms and pages.

    Publications and claims that the search names come before neighbours. A speed in the search leads to the lists of
    results with this speed, and the rest of the search is searched for. A search for one drive versus another leads to
    their comparison.
    """
    typed: str = read_parameters(request.GET, [SEARCH_TEXT])["q"]
    store, profile, speed = current_store(), current_limits(), speed_question(typed)
    comparison = comparison_link(typed)
    query = "" if comparison else speed.rest if speed else typed
    has_links_only = bool(speed or comparison) and not query
    product_query = lookup(store, query)
    products, count = found_products(store, product_query, profile) if query else ([], 0)
    fastest = fastest_drives(store, query, profile) if query and not products else None
    groups = found_groups(query or typed)
    context: dict[str, object] = {
        "section": "search",
        "query": typed,
        "speed": speed,
        "comparison": comparison,
        "products": products,
        "sentence": "" if has_links_only else found_sentence(query, product_query, count, len(products)),
        "read_sentence": product_query.sentence if query and not fastest else "",
        "all_groups": groups,
        "first_groups": [],
        "groups": groups,
        "has_only_texts": False,
        "drives_title": "Drives found" if product_query.is_found else "Drives with a similar name",
        "table_link": makers_table(store, named_makers(store, words_of(query))) if products else None,
    }
    if fastest:
        context |= {"products": fastest.products, "sentence": fastest.sentence, "table_link": fastest.link}
        context["drives_title"] = "Drives found"
    elif query and not products:
        near = current_first(store, neighbours(store, product_query))
        is_model = near.maker or near.capacity or near.is_other_model
        if groups and not is_model:  # a term such as DWPD resembles a name only by chance
            context |= {"has_only_texts": True, "read_sentence": ""}
        else:
            named = named_groups(groups)
            instead = substitutes(store, product_query, near)
            slugs = [*(drive.key for drive in near.drives[:SHOWN_AT_MOST]), *instead]
            context["consumer_warning"] = CONSUMER_WARNING if near.drives and is_consumer_name(query) else ""
            context["substitutes"] = substitutes_sentence(
                store, near, instead, has_capacity=product_query.capacity_gb is not None
            )
            context |= {"sentence": neighbours_sentence(store, query, near), "has_only_texts": bool(named)}
            context |= {"first_groups": named, "groups": [group for group in groups if group not in named]}
            context["neighbours"] = products_of(store, slugs, profile)
    return render(request, "register/search/search.html", context)


@public_page
def names(request: HttpRequest) -> HttpResponse:
    """Return names that match what a reader has typed so far, each with its address, as JSON."""
    typed: str = read_parameters(request.GET, [SEARCH_TEXT])["q"]
    return JsonResponse({"names": offered_names(current_store(), typed)})
