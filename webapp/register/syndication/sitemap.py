"""`/sitemap.xml` and `/robots.txt` for search engines."""

from collections.abc import Sequence
from functools import cached_property
from typing import overload

from django.conf import settings
from django.contrib.sitemaps import Sitemap
from django.core.paginator import EmptyPage
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from webapp.register.http.responses import public_page
from webapp.register.syndication.public_addresses import (
    PageArguments,
    page_arguments,
    plain_names,
    public_patterns,
)
from webapp.register.syndication.site import site_address

XML = "application/xml; charset=utf-8"
PAGES_A_PART = 2000  # the protocol allows 50,000, which take seconds; a register with more pages has an index
# Pages behind a login, and pages with parameters, which show the same rows in another order.
NOT_FOR_ROBOTS = ("/accounts/", "/submit/", "/submissions/", "/review/", "/lab/", "/*?")


class PagePaths(Sequence[str]):
    """The paths of all pages for search engines: those without parameters, then those of each URL pattern.

    A slice reads only its own rows.
    """

    def __init__(self) -> None:
        left_out = reverse("search")  # the search page is marked noindex
        plain = [path for path in map(reverse, plain_names()) if path.endswith("/") and path != left_out]
        found = page_arguments()
        self.patterns: list[tuple[str, PageArguments]] = [("", [(path,) for path in plain])]
        self.patterns += [(name, found[name]) for name in found if name in public_patterns()]

    @cached_property
    def counts(self) -> list[int]:
        """Return the number of pages of each URL pattern."""
        return [pages.count() if isinstance(pages, QuerySet) else len(pages) for _, pages in self.patterns]

    def __len__(self) -> int:
        return sum(self.counts)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, int):
            return self[place : place + 1][0]
        first, last, _ = place.indices(len(self))
        paths: list[str] = []
        before = 0
        for (name, pages), count in zip(self.patterns, self.counts, strict=True):
            start, end = max(first - before, 0), min(last - before, count)
            if start < end:
                paths += [reverse(name, args=args) if name else args[0] for args in pages[start:end]]
            before += count
        return paths


class PublicPages(Sitemap):  # type: ignore[type-arg]  # generic for the type checker only
    """The pages for search engines in parts, with URLs of the public address."""

    limit = PAGES_A_PART

    def __init__(self) -> None:
        self.paths = PagePaths()

    def items(self) -> PagePaths:
        return self.paths

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
