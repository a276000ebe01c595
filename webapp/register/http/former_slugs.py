"""Redirects of former addresses: of a product that was renamed, or merged into another one."""

from collections.abc import Callable
from functools import wraps

from django.http import Http404, HttpRequest, HttpResponse, HttpResponsePermanentRedirect
from django.http.response import HttpResponseBase

from results.models import Product
from results.naming.addresses import moved_to

View = Callable[[HttpRequest, str], HttpResponse]


def follows_renames(view: View) -> Callable[[HttpRequest, str], HttpResponseBase]:
    """Redirect an address with a former slug permanently to the same address with the present one, with its query."""

    @wraps(view)
    def answer(request: HttpRequest, slug: str) -> HttpResponseBase:
        try:
            return view(request, slug)
        except Http404:
            if redirect := former_slug_redirect(request, slug):
                return redirect
            raise

    return answer


def former_slug_redirect(request: HttpRequest, slug: str) -> HttpResponsePermanentRedirect | None:
    """Return the redirect of an address with a former slug; None if the slug never was one of a public product."""
    present = moved_to(slug, Product.objects.public())
    if present is None:
        return None
    return HttpResponsePermanentRedirect(request.get_full_path().replace(f"/{slug}/", f"/{present}/", 1))
