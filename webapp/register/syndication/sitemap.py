"""`/sitemap.xml` and `/robots.txt` for search engines."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from webapp.register.http.responses import public_page
from webapp.register.syndication.public_addresses import public_addresses, read_subjects
from webapp.register.syndication.site import site_address

ADDRESSES_MAX = 50_000  # in one file: sitemaps.org, protocol
XML = "application/xml; charset=utf-8"
# Pages behind a login, and pages with parameters, which show the same rows in another order.
NOT_FOR_ROBOTS = ("/accounts/", "/submit/", "/submissions/", "/review/", "/lab/", "/*?")


def sitemap_pages() -> list[str]:
    """Return the paths of all pages for search engines, in the order of the URL configuration."""
    left_out = reverse("search")  # the search page is marked noindex
    addresses = public_addresses(read_subjects())
    return [address.path for address in addresses if address.is_page and address.path != left_out]


@public_page
def sitemap(request: HttpRequest) -> HttpResponse:
    """Send the list of all pages, or a list of its parts if one file cannot list all."""
    pages = sitemap_pages()
    if len(pages) <= ADDRESSES_MAX:
        return _response(request, "urlset", "url", pages)
    numbers = range(1, -(-len(pages) // ADDRESSES_MAX) + 1)
    return _response(request, "sitemapindex", "sitemap", [reverse("sitemap-part", args=[each]) for each in numbers])


@public_page
def sitemap_part(request: HttpRequest, number: int) -> HttpResponse:
    """Send one part of the list; parts are counted from 1."""
    pages = sitemap_pages()[(number - 1) * ADDRESSES_MAX : number * ADDRESSES_MAX] if number else []
    if not pages:
        raise Http404(f"There is no part {number} of the sitemap.")
    return _response(request, "urlset", "url", pages)


def _response(request: HttpRequest, root: str, item: str, paths: list[str]) -> HttpResponse:
    context = {"root": root, "item": item, "addresses": [site_address(path) for path in paths]}
    return render(request, "register/syndication/sitemap.xml", context, content_type=XML)


@public_page
def robots(_request: HttpRequest) -> HttpResponse:
    """Allow all public pages, and name the sitemap."""
    lines = ["User-agent: *", *(f"Disallow: {path}" for path in NOT_FOR_ROBOTS)]
    lines += ["", f"Sitemap: {site_address(reverse('sitemap'))}", ""]
    return HttpResponse("\n".join(lines), content_type="text/plain; charset=utf-8")
