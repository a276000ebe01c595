"""Citations: `/id/<id>`, the permanent short URL of a run, certificate, product or claim, and BibTeX entries."""

from collections.abc import Mapping
from functools import lru_cache

from django.http import Http404, HttpRequest, HttpResponse, HttpResponsePermanentRedirect
from django.urls import reverse

from results.models import Certificate, Product, Run
from results.models.ids import derived_id
from results.naming.addresses import former_slugs, moved_to
from webapp.register.http.responses import public_page
from webapp.register.ycsb.claims.entries import entries

# Characters with a meaning in TeX. A brace or backslash in a name would end the entry or start a command.
ESCAPES = str.maketrans({
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "%": r"\%", "&": r"\&", "$": r"\$", "#": r"\#", "_": r"\_",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\N{NO-BREAK SPACE}": " ",
})  # fmt: skip
EXAMPLE_PREFIX = "demo"  # of the ids of the register's example runs (results/demonstration/examples.py)
UNESCAPED_FIELDS = frozenset({"url"})


def bibtex_entry(key: str, fields: Mapping[str, str]) -> str:
    r"""Return an entry of kind misc.

    >>> print(bibtex_entry("r-1", {"title": "A_B {50 %}", "url": "https://x/a_b"}))
    @misc{drivecert-r-1,
      title = {{A\_B \{50 \%\}}},
      url = {https://x/a_b}
    }
    """
    lines = [f"  {name} = {{{_text(name, text)}}}" for name, text in fields.items()]
    return f"@misc{{drivecert-{key},\n" + ",\n".join(lines) + "\n}"


def _text(name: str, text: str) -> str:
    if name in UNESCAPED_FIELDS:
        return text
    escaped = text.translate(ESCAPES)
    return f"{{{escaped}}}" if name == "title" else escaped  # the braces preserve capital letters


@lru_cache(maxsize=65_536)
def product_id(slug: str) -> str:
    """Return the short id of a product, derived from its slug. The ids of its former slugs redirect as well."""
    return derived_id("p", slug)


@public_page
def permanent_id(_request: HttpRequest, public_id: str) -> HttpResponse:
    """Redirect to the page of a run, certificate, product or claim."""
    pages = {
        "r": _run_page,
        "c": _certificate_page,
        "p": _product_page,
        "pc": _claim_page,
        EXAMPLE_PREFIX: _example_page,
    }
    find = pages.get(public_id.partition("-")[0])
    address = find(public_id) if find else None
    if address is None:
        raise Http404(f"No public run, certificate, product or claim has the id {public_id}.")
    return HttpResponsePermanentRedirect(address)


def _run_page(public_id: str) -> str | None:
    is_there = Run.objects.public().filter(public_id=public_id).exists()
    return reverse("run-detail", args=[public_id]) if is_there else None


def _example_page(public_id: str) -> str | None:
    is_there = Run.objects.examples().filter(public_id=public_id).exists()
    return reverse("run-detail", args=[public_id]) if is_there else None


def _certificate_page(public_id: str) -> str | None:
    products = Product.objects.public()
    is_there = Certificate.objects.filter(public_id=public_id, product__in=products).exists()
    return reverse("certificate", args=[public_id]) if is_there else None


def _product_page(public_id: str) -> str | None:
    public = Product.objects.public()
    slugs = public.values_list("slug", flat=True).order_by("pk")
    found = next((slug for slug in slugs if product_id(slug) == public_id), None)
    if found is None:
        former = next((slug for slug in former_slugs() if product_id(slug) == public_id), None)
        found = moved_to(former, public) if former else None
    return reverse("product", args=[found]) if found else None


def _claim_page(public_id: str) -> str | None:
    return next((entry.address for entry in entries() if entry.public_id == public_id), None)
