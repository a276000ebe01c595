"""`/sitemap.xml` and `/robots.txt` for search engines."""

from functools import cached_property

from django.conf import settings
from django.contrib.sitemaps import Sitemap
from django.core.paginator import EmptyPage, Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from webapp.register.http.responses import public_page
from webapp.register.syndication.public_addresses import sitemap_parts
from webapp.register.syndication.site import site_address

XML = "application/xml; charset=utf-8"
# Pages behind a login, and pages with parameters, which show the same rows in another order.
NOT_FOR_ROBOTS = ("/accounts/", "/submit/", "/submissions/", "/review/", "/lab/", "/*?")


class PublicPages(Sitemap):  # type: ignore[type-arg]  # generic for the type checker only
    """The pages for search engines in parts, with URLs of the public address."""

    @cached_property
    def paginator(self) -> "Paginator[str]":
        return sitemap_parts()

    def location(self, item: str) -> str:
        return item

    def get_protocol(self, _protocol: str | None = None) -> str:
        return settings.PUBLIC_URL.partition("://")[0]

    def get_domain(self, _site: object = None) -> str:
        return settings.PUBLIC_URL.partition("://")[2]


@public_page
def sitemap(request: HttpRequest) -> HttpResponse:
    """Send the list of all pages, or a list of its parts if one file cannot list all."""
    pages = PublicPages()
    numbers = pages.paginator.page_range
    if len(numbers) == 1:
        return _part(request, pages, 1)
    return _response(
        request, "sitemapindex", "sitemap", [site_address(reverse("sitemap-part", args=[each])) for each in numbers]
    )


@public_page
def sitemap_part(request: HttpRequest, number: int) -> HttpResponse:
    """Send one part of the list; parts are counted from 1."""
    return _part(request, PublicPages(), number)


def _part(request: HttpRequest, pages: PublicPages, number: int) -> HttpResponse:
    try:
        urls = pages.get_urls(number)
    except EmptyPage:
        raise Http404(f"There is no part {number} of the sitemap.") from None
    return _response(request, "urlset", "url", [url["location"] for url in urls])


def _response(request: HttpRequest, root: str, item: str, addresses: list[str]) -> HttpResponse:
    context = {"root": root, "item": item, "addresses": addresses}
    return render(request, "register/syndication/sitemap.xml", context, content_type=XML)


@public_page
def robots(_request: HttpRequest) -> HttpResponse:
    """Allow all public pages, and name the sitemap."""
    lines = ["User-agent: *", *(f"Disallow: {path}" for path in NOT_FOR_ROBOTS)]
    lines += ["", f"Sitemap: {site_address(reverse('sitemap'))}", ""]
    return HttpResponse("\n".join(lines), content_type="text/plain; charset=utf-8")
