"""Tags for the metadata of a page (canonical address, Open Graph, linked data) and for its citation.

{% load linked %}
{% block share %}{% include "register/syndication/share_tags.html" with title="..." description="..." image=path %}
{% block head %}{% head_of_product product %}{% endblock %}    {% citation_of_product product headline_run %}
{% block head %}{% head_of_run run %}{% endblock %}            {% citation_of_run run %}
{% block head %}{% head_of_certificate certificate sentence %}{% endblock %}
{% citation_of_certificate certificate sentence %}    {% citation_of_claim entry %}
"""

import json
from datetime import UTC
from typing import Any

from django import template
from django.conf import settings
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import mark_safe

from results.catalogue.rows import CERTIFICATION_PAGE, published_sources
from results.models import YCSB, Certificate, Product, Run, Tier
from results.rules.plural import listed
from webapp.register.http.access import is_public
from webapp.register.syndication.citations import bibtex_entry, product_id
from webapp.register.syndication.site import plain_text, site_address
from webapp.register.tables.sentences import product_name, run_name, speed_words
from webapp.register.ycsb.claims.entries import ClaimEntry
from webapp.register.ycsb.claims.sentences import citation_name, citation_words
from webapp.templatetags import units

register = template.Library()
# As Django's json_script: no text from outside can end the element or begin another.
ESCAPES = {ord(">"): "\\u003E", ord("<"): "\\u003C", ord("&"): "\\u0026"}
SITE = f"Drivecert, {settings.SITE_DESCRIPTION}"
# Characters of the parameters. An error page repeats fewer than 500 of what was typed.
PRINTED_LENGTH = 450


@register.simple_tag(takes_context=True)
def canonical(context: template.Context) -> str:
    """Return the page's address without parameters; empty for a page made without a request."""
    request = context.get("request")
    return site_address(request.path) if request is not None else ""


@register.simple_tag(takes_context=True)
def page_address(context: template.Context) -> str:
    """Return the page's address with its parameters, which are part of what a reader shares; empty without a request.

    A page that a secret link opens names its address itself, because its parameters include the key.
    """
    request = context.get("request")
    return site_address(request.get_full_path()) if request is not None else ""


@register.simple_tag(takes_context=True)
def printed_address(context: template.Context) -> str:
    """Return the address of the view on paper: with its parameters, but without the key that opens a private page.

    Nobody types a very long address, and an error page repeats no text of any length: those have no parameters.
    """
    request = context.get("request")
    if request is None:
        return ""
    query = request.GET.copy()
    query.pop("key", None)
    parameters = query.urlencode(safe="~,")
    return site_address(request.path) + (f"?{parameters}" if 0 < len(parameters) <= PRINTED_LENGTH else "")


@register.simple_tag
def site_description() -> str:
    """Return what this site is, as citations and titles say it."""
    return str(settings.SITE_DESCRIPTION)


@register.filter
def absolute(address: str) -> str:
    """Return a path as an address of this site; return a complete address unchanged.

    >>> absolute("https://example.com/a.png")
    'https://example.com/a.png'
    """
    return site_address(address) if address.startswith("/") else address


register.filter("plain_text", plain_text)


@register.inclusion_tag("register/syndication/head.html")
def head_of_product(product: Product) -> dict[str, Any]:
    """Show the metadata of a product's page."""
    name, path = plain_text(product_name(product)), reverse("product", args=[product.slug])
    described = {
        "name": name,
        "brand": {"@type": "Brand", "name": plain_text(product.vendor)},
        "model": plain_text(product.model),
        "sku": plain_text(product.part_number),
        "category": product.get_category_display(),
        "image": site_address(reverse("product-picture", args=[product.slug])),
        "identifier": product_id(product.slug),
        "additionalProperty": _properties(product),
    }
    description = f"Runs and certificates of {name}, with their logs or publications."
    head = _head("Product", path, description, product, described)
    return head | {"feed": site_address(reverse("product-feed", args=[product.slug]))}


@register.inclusion_tag("register/syndication/head.html")
def head_of_run(run: Run) -> dict[str, Any]:
    """Show the metadata of a run's page; nothing for a run that is not public."""
    if run.product is None or not is_public(run):
        return {}
    path, description = reverse("run-detail", args=[run.public_id]), plain_text(_run_words(run))
    described = {
        "name": f"{plain_text(run_name(run))}, run {run.public_id}",
        "description": description,
        "identifier": run.public_id,
        "about": {"@id": site_address(reverse("product", args=[run.product.slug]))},
        "includedInDataCatalog": {"@type": "DataCatalog", "name": SITE, "url": site_address("/")},
        "datePublished": run.published_at.date().isoformat() if run.published_at else None,
        "isAccessibleForFree": True,
    }
    return _head("Dataset", path, description, run.product, described)


@register.inclusion_tag("register/syndication/head.html")
def head_of_certificate(certificate: Certificate, sentence: str) -> dict[str, Any]:
    """Show the metadata of a certificate's page; `sentence` says what it certifies, or that it was withdrawn."""
    product = certificate.product
    described = {
        "name": f"Certificate {certificate.public_id}: {plain_text(product_name(product))}",
        "description": plain_text(sentence),
        "identifier": certificate.public_id,
        "about": {"@id": site_address(reverse("product", args=[product.slug]))},
        "dateCreated": certificate.issued_at.date().isoformat(),
        "publisher": {"@type": "Organization", "name": settings.OPERATOR_NAME or SITE, "url": site_address("/about/")},
    }
    path = reverse("certificate", args=[certificate.public_id])
    return _head("CreativeWork", path, plain_text(sentence), product, described)


@register.inclusion_tag("register/syndication/citation.html")
def citation_of_certificate(certificate: Certificate, sentence: str) -> dict[str, Any]:
    """Show the citation of a certificate."""
    name = f"{plain_text(product_name(certificate.product))}, certificate {certificate.public_id}"
    return _citation(name, certificate.public_id, plain_text(sentence))


@register.inclusion_tag("register/syndication/citation.html")
def citation_of_claim(entry: ClaimEntry) -> dict[str, Any]:
    """Show the citation of a claim of a publication."""
    return _citation(citation_name(entry), entry.public_id, citation_words(entry))


@register.inclusion_tag("register/syndication/citation.html")
def citation_of_product(product: Product, headline_run: Run | None) -> dict[str, Any]:
    """Show the citation of a product's page, with the result that represents it under the limits of the profile."""
    own = {"badge": reverse("product-badge", args=[product.slug]), "feed": reverse("product-feed", args=[product.slug])}
    own |= {"badge_address": site_address(own["badge"])}
    about = "" if headline_run is None else plain_text(_cited_words(headline_run))
    return _citation(plain_text(product_name(product)), product_id(product.slug), about) | own


@register.inclusion_tag("register/syndication/citation.html")
def citation_of_run(run: Run) -> dict[str, Any]:
    """Show the citation of a public run, with its figures; of an example run, why it has none."""
    if run.is_demo:
        return {"demonstration_address": site_address(f"/id/{run.public_id}")}
    if run.product is None or not is_public(run):
        return {}
    name = f"{plain_text(run_name(run))}, run {run.public_id}"
    return _citation(name, run.public_id, plain_text(_cited_words(run)))


def _citation(name: str, public_id: str, about: str = "") -> dict[str, Any]:
    """Return a citation. Its day and its year are those of the data, which change after a correction."""
    today = timezone.now().astimezone(UTC)
    words, year = f"{about} State of the data: {today:%-d %B %Y} (UTC).".lstrip(), str(today.year)
    address = site_address(f"/id/{public_id}")
    entry = {"title": name, "howpublished": SITE, "year": year, "note": words, "url": address}
    bibtex = bibtex_entry(public_id, {field: text for field, text in entry.items() if text})
    citation = {"name": name, "words": words, "site": SITE, "year": year, "address": address, "id": public_id}
    return citation | {"bibtex": bibtex}


def _cited_words(run: Run) -> str:
    """Return the figures of a run; those of a publication with their tester, and its address and date."""
    is_published = run.tier == Tier.PUBLISHED and run.catalogue_key
    return f"{_run_words(run)} {_publication_words(run.source)}" if is_published else _run_words(run)


def _publication_words(tester: str) -> str:
    publication = published_sources()[CERTIFICATION_PAGE]
    figures = f"Figures by {tester}, published" if tester else "Figures published"
    publisher = "" if tester == publication.publisher else f" by {publication.publisher}"
    dates = [
        f"dated {publication.published_on}" if publication.published_on else "",
        f"retrieved on {publication.retrieved_on}" if publication.retrieved_on else "",
    ]
    dated = ", ".join(filter(None, dates)) or "undated"
    return f"{figures}{publisher} at {publication.address} ({dated}); listed by Drivecert."


def _run_words(run: Run) -> str:
    what = "YCSB through a database" if run.workload == YCSB else f"{speed_words(run)}; slow reads: {_share_words(run)}"
    visibility = "" if run.visibility == "public" else f"; {run.visibility}"
    return f"{what}; level of evidence (tier): {run.get_tier_display()}{visibility}."


def _share_words(run: Run) -> str:
    """Return the shares of a run in its statistic, as its page shows them; only the statistic without any."""
    shares = [
        f"{units.share(share.printed, share.over_count)} % over {units.threshold(share.threshold_us)}"
        for share in run.shares.all()
        if share.statistic == run.statistic
    ]
    statistic = run.get_statistic_display()
    return f"{listed(shares)} ({statistic})" if shares else statistic


def _properties(product: Product) -> list[dict[str, Any]]:
    stated = {
        "Capacity": (product.capacity_gb, "GB"),
        "PCIe generation": (product.pcie_gen or None, None),
        "Endurance": (units.decimal(product.endurance_dwpd) or None, "DWPD"),
    }
    return [
        {"@type": "PropertyValue", "name": name, "value": value} | ({"unitText": unit} if unit else {})
        for name, (value, unit) in stated.items()
        if value is not None
    ]


def _head(kind: str, path: str, description: str, product: Product, described: dict[str, Any]) -> dict[str, Any]:
    address = site_address(path)
    document = {"@context": "https://schema.org", "@type": kind, "@id": address, "url": address} | described
    text = json.dumps({name: value for name, value in document.items() if value}, ensure_ascii=False)
    return {
        "title": described["name"],
        "description": description,
        "address": address,
        "picture": site_address(reverse("product-picture", args=[product.slug])),
        "linked_data": mark_safe(text.translate(ESCAPES)),  # noqa: S308 - escaped here
    }
