"""Citations as BibTeX, the badge to copy, and the icon under its old name."""

import pytest

from webapp.register.syndication.citations import bibtex_entry


def test_a_name_cannot_end_its_field_or_add_commands():
    entry = bibtex_entry("r-1", {"title": r"} \input{x} 100 % & $_#~^"})
    assert r"title = {{\} \textbackslash{}input\{x\} 100 \% \& \$\_\#\textasciitilde{}\textasciicircum{}}}" in entry


@pytest.mark.django_db
def test_the_page_of_a_drive_has_badge_and_citation_to_copy(client, make_product, make_published_run):
    product = make_product(model="EX_1 <b>")
    make_published_run(product=product)
    text = client.get(f"/drive/{product.slug}/").text
    assert "@misc{drivecert-" in text
    assert "EX\\_1 &lt;b&gt;" in text
    assert f"/drive/{product.slug}/badge.svg&quot; alt=" in text
    assert "<b>EX" not in text


def test_the_icon_is_also_found_under_its_old_name(client):
    answer = client.get("/favicon.ico")
    assert (answer.status_code, answer["Location"].endswith(".svg")) == (302, True)
