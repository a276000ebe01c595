"""The search page: products with the results that count, then publications, claims, terms and pages."""

import html
import re

import pytest

from results.catalogue.claims import import_figures
from tests.results.rows import make_judged_run
from tests.webapp.register.pages import read_rows

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("query", "count"), [("wd", 6), ("Intel P4610", 2), ("westren", 6), ("google", 4), ("zzzzz", 0), ("%20-", 0)]
)
def test_the_search_page_lists_products(client, catalogue, query, count):
    response = client.get(f"/search/?q={query}")
    assert response.status_code == 200
    assert len(read_rows(response)) == count


def test_an_unknown_page_answers_404_with_a_search(client, catalogue):
    response = client.get("/drive/intel-p4611-1600gb/")
    assert response.status_code == 404
    assert 'action="/search/"' in response.text
    assert 'value="intel p4611 1600gb"' in response.text


@pytest.mark.parametrize(("query", "name"), [("q=" + "x" * 101, "Search: "), ("q=a&q=b", "Search: "), ("p=1", "“p”")])
def test_an_invalid_search_is_named(client, query, name):
    response = client.get(f"/search/?{query}")
    assert response.status_code == 400
    assert name in response.text


def test_markup_in_a_search_is_escaped(client, catalogue):
    assert "<script>alert" not in client.get("/search/?q=<script>alert(1)</script>").text


def test_a_right_to_left_name_does_not_affect_the_text_around_it(client, make_product, make_published_run):
    names = {"vendor": "\u202eXE", "model": "\u202eEX9", "part_number": "\u05d09"}
    make_published_run(product=make_product(**names))
    text = client.get("/search/", {"q": "\u202eEX9"}).text
    for name in (*names.values(), "\u202eEX9</bdi>."):
        assert f"<bdi>{name}" in text, ascii(name)


def test_an_unreviewed_product_is_not_found(client, make_product, make_log_run):
    make_log_run(product=make_product(model="SECRET9"), visibility="unreviewed")
    assert "SECRET9" not in client.get("/search/?q=secret9").text.replace('value="secret9"', "")


def test_a_product_shows_its_current_results_that_meet_the_profile(
    client, make_product, make_published_run, make_log_run
):
    product = make_product(model="EX9", capacity_gb=1600)
    best = make_published_run(product=product, tps=300_000)
    make_published_run(product=product, tps=600_000, visibility="withdrawn")
    make_published_run(product=product, tps=700_000, visibility="superseded", superseded_by=best)
    make_published_run({1000: "90.00"}, product=product, tps=800_000)
    make_log_run(product=product, tps=900_000)
    _, _, speed, results, _ = read_rows(client.get("/search/?q=ex9"))[0]
    assert (speed, results) == ("300,000 as published", "3")


def test_a_speed_is_shown_for_each_statistic(client, make_product, make_published_run):
    product = make_product(model="EX9", capacity_gb=1600)
    make_published_run(product=product, tps=300_000)
    make_judged_run(product, nx=50)
    _, _, speed, results, _ = read_rows(client.get("/search/?q=ex9"))[0]
    assert (" ".join(speed.split()), results) == (
        "300,000 as published 150,000 in every slice of its log",
        "2",
    )


def test_a_product_with_only_withdrawn_results_is_found_without_a_speed(client, make_product, make_published_run):
    make_published_run(product=make_product(model="EX9"), visibility="withdrawn")
    _, _, speed, results, _ = read_rows(client.get("/search/?q=ex9"))[0]
    assert (speed, results) == ("none", "0")


def test_a_search_without_a_match_states_what_the_register_has(client, catalogue):
    response = client.get("/search/?q=samsung+990+pro")
    text = html.unescape(response.text).replace("\N{NO-BREAK SPACE}", " ")
    assert "The register has no result for <bdi>samsung 990 pro</bdi>. <bdi>It has 3 Samsung drives: " in text
    assert "Samsung PM983 1.92 TB" in text
    rows = read_rows(response)
    assert [row[0].split()[0] for row in rows[:3]] == ["Samsung"] * 3
    assert ["historical" in row[-1] for row in rows] == [False, True, True, False, False]
    assert "2 of them are historical and no longer recommended. Current drives of other makers are shown " in text
    assert "capacity are shown" not in text
    with_capacity = client.get("/search/?q=samsung+990+pro+2tb").text
    assert "Current drives of other makers with the nearest capacity are shown instead: " in with_capacity
    assert "Your drive is from a consumer series, and the register has drives for data centres." in text
    assert "consumer series" not in client.get("/search/?q=samsung+pm1743").text


def test_instances_are_not_called_drives(client, catalogue):
    assert re.search(r"It has [0-9]+ GCP instances: GCP n2-", client.get("/search/?q=google+c3").text)


def test_a_search_that_names_no_maker_states_similar_names_or_all_makers(client, catalogue):
    text = client.get("/search/?q=solidigm+p5520").text
    assert "Nearest names: Intel P5510 " in text
    text = client.get("/search/?q=zzzzz").text
    assert "It has results of these makers and providers: AWS, Azure, " in text
    assert "submit a result" in text


def test_a_model_of_another_capacity_is_a_neighbour(client, catalogue):
    rows = read_rows(client.get("/search/?q=micron+9400+3.2tb"))
    assert rows[0][0] == "Micron 9400 Max"


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("samsung 990 pro", "It has 3 Samsung drives: Samsung "),
        ("micron 7500", "It has 12 Micron drives: Micron "),
        ("kioxia cm7", "It has 2 Kioxia drives: Kioxia CM6-v "),
        ("30tb", "The nearest capacity is 15.36 TB: Western Digital "),
    ],
)
def test_a_search_without_a_match_ends_in_a_next_step(client, catalogue, query, said):
    text = client.get("/search/", {"q": query}).text.replace("\N{NO-BREAK SPACE}", " ")
    assert f"The register has no result for <bdi>{query}</bdi>. <bdi>{said}" in text
    assert 'Try fewer words, see <a href="/drives/">all drives</a>, or <a href="/submit/">submit a result</a>.' in text
    assert "No name contains" not in text


@pytest.mark.parametrize(
    ("query", "drives"),
    [
        ("9400", {"Micron 9400 Max"}),
        ("p5800x", {"Intel P5800X"}),
        ("optane", {"Intel P5800X", "Intel SSD DC P4800X"}),
    ],
)
def test_a_search_by_number_or_brand_finds_its_drives(client, catalogue, query, drives):
    assert {row[0] for row in read_rows(client.get("/search/", {"q": query}))} == drives


def test_a_corrected_word_is_named_with_the_word_that_the_drives_have(client, catalogue):
    text = client.get("/search/?q=westren").text
    assert "The register has no drive named <bdi>westren</bdi>. 6 drives have a similar name." in text
    assert "No name contains westren, so it was read as western." in text
    assert "found" not in lede(text)


def lede(text):
    return re.search(r'<p class="lede">(.*?)</p>', text)[1].replace("\N{NO-BREAK SPACE}", " ")


@pytest.mark.parametrize(
    ("query", "nearest", "models"),
    [
        ("PM9A3", "Samsung PM983 1.92 TB", {"Samsung PM983"}),
        ("Samsung PM9A3", "Samsung PM983 1.92 TB", {"Samsung PM983"}),
        ("PM9A3 3.84", "Samsung PM983 1.92 TB", {"Samsung PM983"}),
        ("P5520", "Intel P5510 7.68 TB", {"Intel P5510"}),
        ("SN850", "Western Digital SN650 15.36 TB, Western Digital Ultrastar DC SN840 3.2 TB", None),
    ],
)
def test_a_model_with_other_digits_is_never_found(client, catalogue, query, nearest, models):
    response = client.get("/search/", {"q": query})
    said = f"The register has no drive named <bdi>{query}</bdi>. <bdi>Nearest names: {nearest}.</bdi>"
    assert lede(response.text) == said
    assert "read as" not in response.text
    assert "Similar drives in the register" in response.text
    assert models is None or {row[0] for row in read_rows(response)} == models


def test_a_part_number_of_another_capacity_is_not_found(client, catalogue):
    said = lede(client.get("/search/?q=SSDPE2KE032T8").text)
    missing = "The register has no drive named <bdi>SSDPE2KE032T8</bdi>."
    assert said == f"{missing} 2 drives have the same model name and another capacity."


def test_the_nearest_capacity_is_that_of_drives_with_the_searched_names(client, make_product, make_published_run):
    for capacity, model in ((1600, "EX9"), (6400, "EX9"), (3300, "ZZ1")):
        make_published_run(product=make_product(vendor="Exemplar", model=model, capacity_gb=capacity))
    text = client.get("/search/?q=ex9+4tb").text.replace("\N{NO-BREAK SPACE}", " ")
    assert "The nearest capacity is 6.4 TB: Exemplar EX9 6.4 TB." in text
    assert [row[1] for row in read_rows(client.get("/search/?q=ex9+4tb"))] == ["6.4 TB"]


def test_neighbours_are_drives_with_a_current_result(client, make_product, make_published_run):
    make_published_run(product=make_product(vendor="Exemplar", model="EX9"), visibility="withdrawn")
    text = client.get("/search/?q=exemplar+zz1").text
    assert "EX9" not in text


def test_an_empty_register_has_no_neighbours(client):
    response = client.get("/search/?q=samsung")
    assert (response.status_code, "has no result for <bdi>samsung</bdi>." in response.text) == (200, True)


def test_markup_in_names_of_neighbours_is_escaped(client, make_product, make_published_run):
    make_published_run(product=make_product(vendor="<i>Ex", model="<b>1"))
    text = client.get("/search/", {"q": "i ex zz<u>"}).text
    assert "&lt;b&gt;1" in text
    assert "<b>1" not in text
    assert "zz<u>" not in text


def headings(response):
    return re.findall(r"<h2[^>]*>([^<]*)", response.text)


def test_a_named_publication_comes_before_similar_drives(client, catalogue):
    import_figures()
    response = client.get("/search/?q=micron+7400+pro")
    assert [heading.strip() for heading in headings(response)] == [
        "Publications",
        "Claims of publications",
        "Similar drives in the register",
    ]
    found = '<a href="#publications">1 publication</a>, <a href="#claims">14 claims</a>. No drive has this name.</p>'
    assert f'<p class="lede also-found">Found for <bdi>micron 7400 pro</bdi>: {found}' in response.text
    assert '<a href="/ycsb/micron-7400-brief/">Micron 7400 PRO against 7300 PRO on RocksDB</a>' in response.text
    assert response.text.count('<a href="/ycsb/claims/micron-7400-brief/') == 5
    assert '<a href="/ycsb/claims/?brief=micron-7400-brief">' in response.text


def test_a_term_is_no_drive_that_the_register_lacks(client, catalogue):
    response = client.get("/search/?q=DWPD")
    assert '<p class="lede also-found">Found for <bdi>DWPD</bdi>: <a href="#terms">' in response.text
    assert '<a href="/explain/glossary/#what-is-rated-dwpd">DWPD</a>' in response.text
    assert read_rows(response) == []
    assert "submit a result" not in response.text


def test_a_search_for_a_maker_lists_its_drives_and_texts(client, catalogue):
    response = client.get("/search/?q=micron")
    assert '<p class="lede">12 drives found for <bdi>micron</bdi>.</p>' in response.text
    assert [heading.strip() for heading in headings(response)] == ["Claims of publications"]


def test_a_search_for_a_drive_that_the_register_lacks_has_no_other_texts(client, catalogue):
    response = client.get("/search/?q=samsung+990+pro")
    assert headings(response) == ["Similar drives in the register"]


def test_the_empty_search_says_what_it_finds(client, db):
    text = client.get("/search/").text
    assert "Search for drives by maker, model, part number or capacity, or for publications, claims and terms." in text


def test_every_page_has_a_search_in_its_header(client, db):
    for path in ("/", "/explain/", "/search/", "/nowhere/", "/accounts/login/"):
        header = client.get(path).text.split("<header")[1].split("</header>")[0]
        assert 'action="/search/"' in header, path
        assert '<a class="find-link" href="/search/"' in header, path


def test_an_instance_shows_its_storage_as_its_capacity(client, catalogue):
    rows = {row[0]: row[1] for row in read_rows(client.get("/search/?q=i3en"))}
    assert rows["AWS i3en.12xlarge"] == "1 x 7,500 GB"


@pytest.mark.parametrize(
    ("query", "address"),
    [
        ("does a fast drive wear out sooner", "/drives/nvme-flash/?over_rating=no"), ("wear out", "?over_rating=no"),
        ("best cloud instance", "/drives/cloud/"), ("fastest ssd", "/"), ("press", "/about/"), ("download", "/data/"),
    ],
)  # fmt: skip
def test_a_question_leads_to_the_page_that_answers_it(client, catalogue, query, address):
    response = client.get("/search/", {"q": query})
    addresses = re.findall(r'<li><a href="([^"]+)">', response.text)
    assert any(each.endswith(address) for each in addresses), addresses


def test_a_skip_link_leads_to_what_was_found(client, catalogue):
    text = client.get("/search/?q=micron").text
    assert text.index('<a class="skip" href="#found">') < text.index('id="found"') < text.index('class="found"')
    assert 'href="#found"' not in client.get("/search/").text
