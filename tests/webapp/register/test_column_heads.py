"""Links from the head of every column of every public table to its meaning."""

import re
from html.parser import HTMLParser

import pytest
from django.conf import settings

from results.catalogue.claims import import_claims, import_figures
from tests.webapp.register.runs.charts.test_telemetry import interval, make_run
from webapp.register.tables.categories import SPECS
from webapp.register.tables.meanings import ALL, meaning_address
from webapp.register.ycsb.claims.entries import entries

__all__ = ["make_run"]
pytestmark = pytest.mark.django_db
PERCENTILES = ("p50", "p90", "p95", "p99", "p99.9", "p99.99", "p99.999")
TEMPLATES = settings.BASE_DIR / "webapp/templates/register"
EXPLAINS_ITS_TABLES = "generator.html"  # its tables are a benchmark's, each below the sentence that explains it


class HeadReader(HTMLParser):
    """Collect the heads of columns: their text, and where the links to meanings in them lead."""

    def __init__(self):
        super().__init__()
        self.heads, self._is_open = [], False

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if tag == "th" and values.get("scope") == "col":
            self.heads.append(["", []])
            self._is_open = True
        elif tag == "a" and self._is_open and "means" in (values.get("class") or "").split():
            self.heads[-1][1].append((values["href"], values.get("aria-label")))

    def handle_endtag(self, tag):
        if tag == "th":
            self._is_open = False

    def handle_data(self, data):
        if self._is_open:
            self.heads[-1][0] += data


def heads_of(client, address):
    answer = client.get(address)
    assert answer.status_code == 200, address
    reader = HeadReader()
    reader.feed(answer.text)
    return reader.heads


@pytest.fixture
def anchors(client, db):
    return set(re.findall(r'<dt id="(\w+)">', client.get("/explain/").text))


def assert_all_link_to_meanings(client, anchors, address, least):
    heads = heads_of(client, address)
    assert len(heads) >= least
    for text, links in heads:
        assert len(links) == 1, f"{address}: {text}"
        page, _, anchor = links[0][0].partition("#")
        assert (page, anchor in anchors) == ("/explain/", True), f"{address}: {text} {links}"


@pytest.mark.parametrize(
    ("address", "least"),
    [
        ("/", 6),
        *((f"/drives/{name}/", 10) for name in ("nvme-flash", "nvme-3dxpoint", "networked", "cloud", "historical")),
        ("/drives/cloud/?columns=region~zone~started_at~firmware~backing_device~source", 7),
        ("/drives/nvme-flash/?columns=needed_dwpd~started_at~firmware~source~pcie_gen", 6),
        ("/drive/intel-p5510-7680gb/", 8),
        ("/search/?q=intel", 5),
        ("/compare/?drive=intel-p5510-7680gb&drive=kioxia-cm6-v-3200gb", 9),
        ("/sizing/?reads=100000&writes=50000&data=10", 15),
        ("/nines/", 7),
        ("/ycsb/", 4),
        ("/explain/rules/", 2),
    ],
)
def test_every_head_of_a_page_links_to_its_meaning(client, catalogue, anchors, address, least):
    assert_all_link_to_meanings(client, anchors, address, least)


def test_every_head_of_every_publication_links_to_its_meaning(client, anchors):
    import_figures()
    import_claims()
    addresses = set(re.findall(r'href="(/ycsb/[\w-]+/)"', client.get("/ycsb/").text)) - {"/ycsb/claims/"}
    assert len(addresses) >= 2
    for address in addresses:
        assert_all_link_to_meanings(client, anchors, address, 4)
    assert_all_link_to_meanings(client, anchors, "/ycsb/claims/", 6)
    assert_all_link_to_meanings(client, anchors, "/ycsb/impossible/", 7)
    for entry in entries():
        assert_all_link_to_meanings(client, anchors, entry.address, 4 if entry.row.check.basis else 0)


def test_every_head_of_the_page_of_a_run_links_to_its_meaning(client, make_run, anchors):
    run = make_run(interval(1), interval(2))
    assert_all_link_to_meanings(client, anchors, f"/runs/{run.public_id}/", 30)


def test_every_head_of_the_answer_of_a_fleet_check_links_to_its_meaning(client, catalogue, anchors):
    answer = client.post("/check/answer/", {"list": "device,model,firmware\n/dev/nvme0n1,P5510,F1\n"})
    reader = HeadReader()
    reader.feed(answer.text)
    assert [len(links) for _, links in reader.heads] == [1] * 11
    assert {links[0][0].partition("#")[2] for _, links in reader.heads} <= anchors


def test_a_sorting_head_keeps_its_link_and_the_meaning_is_a_second_link(client, catalogue):
    text = client.get("/drives/nvme-flash/").text
    head = text.split('data-column="tps_per_tb">')[1].split("</th>")[0]
    assert head.startswith('<a href="?sort=-tps_per_tb">Speed per TB</a>')
    assert head.endswith('<a class="means sign" href="/explain/#tps_per_tb" aria-label="What Speed per TB means">?</a>')


def test_no_template_of_the_register_has_a_head_without_a_meaning():
    found = []
    for path in sorted(set(TEMPLATES.rglob("*.html")) - {TEMPLATES / "explain" / EXPLAINS_ITS_TABLES}):
        heads = re.findall(r'<th scope="col"(?:[^>]|%}[^>])*?>(?:(?!</th>).)*</th>', path.read_text())
        found += [f"{path.name}: {head}" for head in heads if "{% meaning " not in head]
    assert found == []


def test_every_fixed_head_of_a_template_is_a_name_of_its_column():
    names = {meaning.code: meaning.head.split(", ") for meaning in ALL} | {"percentile": PERCENTILES}
    heads = [
        (code, head)
        for path in TEMPLATES.rglob("*.html")
        for code, head in re.findall(r"{% meaning '(\w+)' %}\">([^<{]+)</a>", path.read_text())
    ]
    assert len(heads) > 100
    assert [(code, head) for code, head in heads if head not in names[code]] == []


@pytest.mark.parametrize("spec", SPECS.values(), ids=lambda spec: spec.code)
def test_every_head_of_a_table_of_drives_is_a_name_of_its_column(spec):
    names = {meaning.code: meaning.head.split(", ") for meaning in ALL}
    assert [column.head for column in spec.columns if column.head not in names[column.code]] == []


def test_a_head_without_a_meaning_is_refused():
    with pytest.raises(ValueError, match="no-such-column"):
        meaning_address("no-such-column")
    assert meaning_address("tps") == "/explain/#tps"
