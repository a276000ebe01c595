"""`/sitemap.xml` and `/robots.txt`: what search engines are told of the register."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse

from webapp.register.http.responses import public_page
from webapp.register.syndication.public_addresses import public_addresses, read_subjects
from webapp.register.syndication.site import site_address

ADDRESSES_MAX = 50_000  # in one file: sitemaps.org, protocol
XML = "application/xml; charset=utf-8"
# What asks for a sign-in, and pages by their parameters: the same rows in another order are no other page.
NOT_FOR_ROBOTS = ("/accounts/", "/submit/", "/submissions/", "/review/", "/lab/", "/*?")


def sitemap_pages() -> list[str]:
    """Return the path of every page that robots may keep, the site's own order."""
    left_out = reverse("search")  # it answers questions, and says noindex
    addresses = public_addresses(read_subjects())
    return [address.path for address in addresses if address.is_page and address.path != left_out]


@public_page
def sitemap(request: HttpRequest) -> HttpResponse:
    """List every page; where one file does not hold them, list the files that do."""
    pages = sitemap_pages()
    if len(pages) <= ADDRESSES_MAX:
        return _answer(request, "urlset", "url", pages)
    numbers = range(1, -(-len(pages) // ADDRESSES_MAX) + 1)
    return _answer(request, "sitemapindex", "sitemap", [reverse("sitemap-part", args=[each]) for each in numbers])


@public_page
def sitemap_part(request: HttpRequest, number: int) -> HttpResponse:
    """List the pages of one file, counted from 1."""
    pages = sitemap_pages()[(number - 1) * ADDRESSES_MAX : number * ADDRESSES_MAX] if number else []
    if not pages:
        raise Http404(f"There is no part {number} of the sitemap.")
    return _answer(request, "urlset", "url", pages)


def _answer(request: HttpRequest, root: str, item: str, paths: list[str]) -> HttpResponse:
    context = {"root": root, "item": item, "addresses": [site_address(path) for path in paths]}
    return render(request, "register/syndication/sitemap.xml", context, content_type=XML)


@public_page
def robots(_request: HttpRequest) -> HttpResponse:
    """Let everyone read what is public, and name the sitemap."""
    lines = ["User-agent: *", *(f"Disallow: {path}" for path in NOT_FOR_ROBOTS)]
    lines += ["", f"Sitemap: {site_address(reverse('sitemap'))}", ""]
    return HttpResponse("\n".join(lines), content_type="text/plain; charset=utf-8")
