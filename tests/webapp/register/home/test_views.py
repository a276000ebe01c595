"""The home page: the question, its answer in a sentence, charts and drives by comparison group, and the categories."""

import re
from html import unescape

import pytest

from results.models import Product, Visibility
from tests.webapp.register.conftest import SLOW_DISK_VERDICT
from tests.webapp.register.pages import read_rows, read_titles
from webapp.register.drives.store import charted_rows
from webapp.register.home.question import drive_choices
from webapp.register.landscape.page_svg import GAP_WIDTH

pytestmark = pytest.mark.django_db

ANY_SPEED = "/?min_device_tps=0"
AS_PUBLISHED = "within these limits."
CAUTION = "Makers mostly publish tests that pass; none of these is verified."


ALL_KINDS = drive_choices()[0][0]


def slug_of(client, name):
    """Return the drive that the all-kinds answer links by this name."""
    page = client.get(f"/?category={ALL_KINDS}").text.replace("&nbsp;", " ").replace("\N{NBSP}", " ")
    links = re.findall(r'href="/drive/([^/]+)/[^"]*">(.*?)</a>', page)
    return next(slug for slug, text in links if " ".join(re.sub(r"<[^>]*>", " ", text).split()) == name)


def text_of(response):
    """Return the words of a page, without its elements."""
    return " ".join(re.sub(r"<[^>]*>", " ", response.text.replace("&nbsp;", " ")).split()).replace("\N{NBSP}", " ")


def test_the_answer_is_a_sentence_with_numbers(client, catalogue):
    said = text_of(client.get("/"))
    assert f"11 of 30 NVMe flash drives were tested at 500,000 tps or more, {AS_PUBLISHED}" in said
    assert "SanDisk DC SN861 6.4 TB is the fastest of 7 of them that are comparable (ACT 6.x, 1 device) ." in said
    assert (
        "At 500,000 tps this drive takes 6.94 drive writes a day; it is rated for 3. None of the 11 has a rating "
        "that allows it."
    ) in said


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("min_device_tps=400000", "2 of the 15 have a rating that allows it."),
        ("min_device_tps=432000", "2 of the 14 have a rating that allows it."),
        ("min_device_tps=433000", "None of the 14 has a rating that allows it."),
        ("min_device_tps=1600000", "Its rating does not allow 1,600,000 tps."),
    ],
)
def test_the_answer_counts_the_ratings_that_sustain_the_load(client, catalogue, question, sentence):
    assert sentence in text_of(client.get(f"/?{question}"))


OTHER_KIND = re.compile(r"Among all kinds of drives , (Intel (\S+) [\d.]+.TB) has such a rating\.")


def test_a_current_drive_of_another_category_is_named_if_only_its_rating_sustains_the_load(client, catalogue):
    named = OTHER_KIND.search(text_of(client.get("/")))
    assert named
    (figure,) = client.get(f"/api/v1/figures/?q={named[2]}").json()["results"]
    assert int(figure["sustained_tps"]) >= 500_000
    assert not Product.objects.get(slug=slug_of(client, named[1])).historical


@pytest.mark.parametrize("question", ["min_device_tps=400000", "min_device_tps=0", f"category={ALL_KINDS}"])
def test_no_other_category_is_named_if_an_answer_has_such_a_rating_or_all_kinds_are_chosen(client, catalogue, question):
    assert not OTHER_KIND.search(text_of(client.get(f"/?{question}")))


def test_the_endurance_of_the_fastest_drive_is_that_of_its_speed_if_no_load_is_entered(client, catalogue):
    said = text_of(client.get(ANY_SPEED))
    assert "At 1,728,000 tps this drive takes 24 drive writes a day; it is rated for 3." in said
    assert "At 500,000 tps" not in said


@pytest.mark.parametrize(
    ("path", "before"),
    [("/", "</main>"), *[(f"/drives/{each}", "<form") for each in ("", "nvme-flash/", "cloud/", "historical/")]],
)
def test_abbreviations_are_spelt_out_before_the_form_and_below_the_answer_of_home(client, catalogue, path, before):
    intro = client.get(path).text.split('<main id="main"')[1].split(before)[0]
    terms = {"ACT": "Aerospike Certification Tool", "DWPD": "drive writes per day"}
    if path != "/":
        terms |= {"OP": "over-provisioning", "CP": "compressed size of the data"}
    for short, long in terms.items():
        assert f"<abbr>{short}</abbr> ({long})" in intro


def test_the_heading_and_what_drivecert_is_come_first_then_the_form_the_results_and_the_findings(client, catalogue):
    text = client.get("/").text.split('<main id="main"')[1]
    what = "Drivecert lists published tests of storage drives: speed in <abbr>tps</abbr> (reads and writes per second)"
    order = ["<h1>", what, '<form class="filters question"', 'id="answer-rows"', '<ul class="plain findings">']
    places = [text.index(each) for each in order]
    assert places == sorted(places)
    assert "<a " not in text[: places[2]]


def test_home_leads_with_how_many_rated_drives_were_tested_over_their_rating(client, catalogue):
    text = client.get("/").text
    sentence = "In 32 of 36 results of rated drives, the tested speed exceeds the endurance rating."
    assert f'<ul class="plain findings"><li><a class="lead" href="/drives/?over_rating=yes">{sentence}</a>' in text
    listed = client.get("/drives/?over_rating=yes")
    assert "32 results from publications match the filters." in text_of(listed)
    assert len(client.get("/drives/?over_rating=yes&format=csv").text.splitlines()) == 1 + 32


@pytest.mark.parametrize(("tps", "exceeding"), [(216_000, 0), (216_001, 1)])
def test_a_result_at_the_speed_that_the_rating_sustains_is_not_over_it(
    client, make_product, make_published_run, tps, exceeding
):
    make_published_run(product=make_product(endurance_dwpd=3, capacity_gb=6400), tps=tps)
    sentence = f"In {exceeding} of 1 result of a rated drive, the tested speed exceeds the endurance rating."
    assert sentence in text_of(client.get("/"))
    assert len(client.get("/drives/?over_rating=yes&format=csv").text.splitlines()) == 1 + exceeding


def test_home_has_no_sentence_on_ratings_without_rated_drives(client, make_product, make_published_run):
    make_published_run(product=make_product(endurance_dwpd=None, capacity_gb=6400), tps=900_000)
    assert "exceeds the endurance rating" not in client.get("/").text


def test_home_names_and_links_the_contradicted_and_the_impossible_claim_below_the_results(client, catalogue):
    text = client.get("/").text
    findings = (
        text.split('<ul class="plain findings">')[1]
        .split("</ul>")[0]
        .replace("\N{NBSP}", " ")
        .replace("\N{WORD JOINER}", "")
    )
    assert text.index('<ul class="plain findings">') > text.index('id="answer-rows"') > text.index("<h1>")
    said = "the register has the figures, but not the document"
    link = f'<a href="/explain/glossary/#what-is-kept-source-not-on-file">{said}</a>'
    facts = "understated by 1.8 points; without the row of 48 threads, the mean is 23.8 %"
    assert f"</a> ({facts}; {link})." in findings
    assert re.search(
        r'<b>Contradicted:</b> <a href="/ycsb/claims/micron-7400-brief/[^"]*">Micron on the 7400 PRO', findings
    )
    row = "kioxia-fl6-brief-tlc-pcie-4-0-a"
    summary = "KIOXIA on the TLC PCIe 4.0: 135.1 requests at once from 128 threads, each of which can have only one"
    assert f'<b>Impossible:</b> <a href="/ycsb/impossible/#{row}">{summary}</a>.' in findings
    shown = client.get("/ycsb/impossible/").text.split(f'<tr id="{row}">')[1].split("</tr>")[0]
    assert "TLC PCIe 4.0, workload A" in shown
    assert "<b>135.1</b>" in shown
    assert 'id="what-is-kept-source-not-on-file"' in client.get("/explain/glossary/").text


def test_home_says_that_no_drive_is_certified_yet_and_what_a_certificate_needs(client, catalogue):
    said = text_of(client.get("/"))
    assert "No drive is certified yet." in said
    assert (
        "needs two tests of the same drive: a load test that passes, and a stress test at twice that load that runs to "
        "its end." in said
    )
    assert "Published percentages are as their source printed them, and certify nothing." in said


def test_results_without_a_rank_say_why_and_what_to_do(client, catalogue):
    networked = text_of(client.get("/?category=networked&min_device_tps=0"))
    assert (
        "The results are not ranked, because the number of devices is not reported. A result is ranked if its data was "
        "not compressible and it reports speed, version of ACT and number of devices. "
        "A published result of a drive counts as one device."
    ) in networked
    one = text_of(client.get("/?category=m2-flash&min_device_tps=0"))
    assert "The result is not ranked, because the version of ACT is not reported." in one


def test_several_reasons_have_their_numbers(client, make_published_run):
    for fields in ({"tool_version": ""}, {"tool_version": ""}, {"compress_pct": 50}):
        make_published_run(tps=900, **fields)
    reasons = "the test data was compressible (1) or the version of ACT is not reported (2)."
    assert f"The results are not ranked, because {reasons}" in text_of(client.get(ANY_SPEED))


def test_a_drive_that_was_measured_like_no_other_is_named_with_its_way_of_measuring(client, make_published_run):
    make_published_run(tps=900)
    text = text_of(client.get(ANY_SPEED))
    assert f"1 of 1 result of NVMe flash drives is {AS_PUBLISHED}" in text
    assert "The result is of Exemplar EX" in text
    for _ in range(2):
        make_published_run(tps=800, tool_version="5.3")
    measured = "ACT 6.x: time in the drive, as published, 1 device"
    assert f"is the only one of them in its comparison group ({measured})" in text_of(client.get(ANY_SPEED))


@pytest.mark.parametrize("typed", ["400%2C000", "400k", "0.4M"])
def test_a_submitted_form_gets_the_short_address_of_its_question(client, catalogue, typed):
    form = f"/?category=nvme-flash&min_device_tps={typed}&limit_1ms=3&limit_8ms=1&limit_64ms=0.1"
    assert client.get(form).headers["Location"] == "/?min_device_tps=400000&limit_1ms=3"


def test_a_submitted_form_without_changes_gets_the_bare_address(client, catalogue):
    response = client.get("/?category=nvme-flash&min_device_tps=500%2C000&limit_1ms=5&limit_8ms=1&limit_64ms=0.1")
    assert response.headers["Location"] in {"/", "/?"}


def test_home_has_headings_for_its_charts_and_its_results(client, catalogue):
    headings = re.findall(r"<h2[^>]*>([^<]*)", client.get("/").text)
    assert headings[:2] == ["Charts of the drives", "Drives that match"]


def test_home_leads_a_newcomer_to_a_trial_below_the_results(client, catalogue):
    after = client.get("/").text.split('id="answer-rows"')[1].split('<ul class="plain findings">')[0]
    assert '<a href="/try/">try your log</a>' in after
    assert '<a href="/drives/cloud/" data-carries>Cloud instances</a>' in after


def test_home_has_a_link_to_its_view(client, catalogue):
    text = client.get("/?category=nvme-flash&min_device_tps=400000&limit_1ms=3&limit_8ms=1").text
    assert '<a data-form="html" href="?min_device_tps=400000&amp;limit_1ms=3">Link to this view</a>' in text


def test_the_drives_of_the_answer_are_in_bands_of_results_that_compare(client, catalogue):
    response = client.get("/")
    assert [title.split(", as published. ")[1].split(",")[0] for title in read_titles(response)] == [
        "7 results",
        "2 results",
        "2 results",
    ]
    row = read_rows(response)[0]
    assert row[:5] == ["SanDisk DC SN861 6.4 TB", "1,728,000", "0.56", "0.00", "0.00"]
    assert row[5:8] == ["6.94 of 3, over", "8x rating", "216,000"]


def test_without_a_load_each_drive_has_the_endurance_that_its_tested_speed_needs(client, catalogue):
    assert read_rows(client.get(ANY_SPEED))[0][5:9] == ["24 rated 3", "3", "8x rating", "216,000"]


@pytest.mark.parametrize(
    ("rating", "tps", "shown"),
    [
        (3, 216_160, "3 of 3, within"),
        (3, 216_161, "3 of 3, over"),
        (5, 216_161, "3 of 5, within"),
        (None, 500_000, "6.94"),
    ],
)
def test_each_drive_has_its_writes_at_the_entered_load_next_to_its_rating(
    client, make_product, make_published_run, rating, tps, shown
):
    make_published_run(product=make_product(endurance_dwpd=rating, capacity_gb=6400), tps=900_000)
    assert read_rows(client.get(f"/?min_device_tps={tps}"))[0][5] == shown


def test_home_divides_by_the_exact_speed_that_the_rating_sustains(client, catalogue):
    text = client.get("/?min_device_tps=300000").content.decode()
    (row,) = re.findall(r"<tr[^>]*>(?:(?!</tr>).)*/drive/intel-p5510-7680gb/(?:(?!</tr>).)*</tr>", text, re.DOTALL)
    page = client.get("/drive/intel-p5510-7680gb/").content.decode()
    assert "5.6x rating" in row
    assert "5.6 times" in page


def test_home_shows_two_charts_without_script(client, catalogue):
    text = client.get("/").text
    assert text.count('<svg class="landscape"') == 2
    assert "500,000 tps: 11 results" in text
    assert "2 of 30 results" in text
    assert text.count('aria-label="SanDisk DC SN861 6.4 TB: 1,728,000 tps; 0.56 % of reads over 1 ms; ACT 6.x') == 1
    assert text.count('aria-label="Endurance of SanDisk DC SN861 6.4 TB: its rating allows 216,000 tps; tested at') == 1


def test_a_load_that_no_drive_sustains_offers_a_next_step(client, catalogue):
    said = text_of(client.get("/?min_device_tps=9000000"))
    assert f"None of 30 NVMe flash drives was tested at 9,000,000 tps or more, {AS_PUBLISHED}" in said
    assert "Lower the speed: the fastest tested of this kind has 1,728,000 tps. Or see all drives" in said


def test_a_load_that_only_limits_exclude_offers_to_raise_a_limit(client, catalogue):
    said = text_of(client.get("/?min_device_tps=1728000&limit_1ms=0.1"))
    assert "Lower the speed, raise a limit, or see all drives" in said


def test_the_caution_on_publications_ends_with_the_first_result_that_has_a_log(client, make_published_run):
    make_published_run()
    assert CAUTION in text_of(client.get(ANY_SPEED))
    make_published_run(tier="reviewed", tps=900)
    said = text_of(client.get(ANY_SPEED))
    assert "Makers mostly" not in said
    assert "has verified none" not in said


def test_without_a_load_the_answer_counts_the_drives_within_the_limits(client, catalogue):
    assert f"30 of 30 NVMe flash drives are {AS_PUBLISHED}" in text_of(client.get(ANY_SPEED))


def test_the_results_that_do_not_match_are_counted_with_the_reasons(client, make_published_run):
    for tps in (100, 200):
        make_published_run(tps=tps)
    make_published_run({1000: "5.01"}, tps=900)
    assert "1 result of NVMe flash drives does not match: over a limit." in text_of(client.get(ANY_SPEED))
    both = "2 results of NVMe flash drives do not match: slower than 200 tps (1), over a limit (1)."
    assert both in text_of(client.get("/?min_device_tps=200"))
    overlapping = "3 results of NVMe flash drives do not match: slower than 1,000 tps (3), over a limit (1)."
    assert f"{overlapping} A result can have several reasons." in text_of(client.get("/?min_device_tps=1000"))


def test_other_kinds_of_drives_can_be_asked_for(client, catalogue):
    said = text_of(client.get("/?category=nvme-3dxpoint~nvme-flash~sata-sas-flash~m2-flash"))
    assert "of 37 drives of all kinds were tested at 500,000 tps or more, within these limits" in said
    assert client.get("/?category=nosuch").status_code == 400


def test_the_threshold_of_the_charts_is_chosen_by_a_link(client, catalogue):
    text = client.get("/").text
    assert '<b tabindex="-1">1\N{NBSP}ms</b> <a href="?threshold=8ms">8\N{NBSP}ms</a>' in text
    assert "limit 0.1 %" in client.get("/?threshold=64ms").text
    assert client.get("/?threshold=2ms").status_code == 400


def test_worst_slices_are_in_a_picture_of_their_own(client, make_published_run, make_log_run):
    make_published_run(tps=900)
    make_log_run(tps=900, device_count=1)
    text = client.get(ANY_SPEED).text
    assert (
        '<b tabindex="-1">as published</b> <a href="?min_device_tps=0&amp;statistic=worst-slice">worst slice</a>'
        in text
    )
    assert text.count('<a class="m ') == 1
    of_logs = client.get(f"{ANY_SPEED}&statistic=worst-slice")
    assert of_logs.text.count('<a class="m ') == 1
    assert "of 1 result of NVMe flash drives is within these limits. " in text_of(of_logs)


def test_home_counts_the_results_of_each_category(client, catalogue):
    said = text_of(client.get("/"))
    assert "Drives by category results within the limits" in said
    for line in (
        *("NVMe 3D XPoint 4 of 4 results", "NVMe flash 30 of 30 results"),
        *("SATA and SAS flash 2 of 2 results", "M.2 flash 1 of 1 results"),
        *("Networked storage 4 of 4 results", "Cloud instances 35 of 40 results"),
        "Historical 22, no longer recommended",
    ):
        assert line in said
    assert "103 results, all from publications: 81 of current and 22 of historical drives." in said


def speeds(response):
    return [row[1] for row in read_rows(response)]


def test_a_faster_run_over_a_limit_is_no_answer(client, make_published_run):
    make_published_run({1000: "5.00"}, tps=100)
    make_published_run({1000: "5.01"}, tps=200)
    assert speeds(client.get(ANY_SPEED)) == ["100"]


@pytest.mark.parametrize(("tps", "is_answer"), [(499_999, False), (500_000, True)])
def test_a_drive_at_the_load_is_an_answer(client, make_published_run, tps, is_answer):
    make_published_run(tps=tps)
    assert bool(speeds(client.get("/"))) is is_answer


@pytest.mark.parametrize(("outcome", "speed"), [("pass", "900"), ("undecided", ""), ("void", ""), ("fail", "")])
def test_a_run_from_a_log_must_pass(client, make_log_run, outcome, speed):
    shares = [share | {"share_pct": "0.05"} for share in SLOW_DISK_VERDICT["shares"][:1]]
    document = {"outcome": outcome, "headline": "", "histogram": "reads", "violations": [], "reasons": []}
    make_log_run(document=document | {"shares": shares}, device_count=1)
    assert speeds(client.get(ANY_SPEED)) == ([speed] if speed else [])


def test_the_limits_of_a_reader_select_the_drives_and_are_kept_in_links(client, make_published_run):
    run = make_published_run({1000: "6.00"}, tps=200)
    make_published_run({1000: "4.00"}, tps=100)
    response = client.get(f"{ANY_SPEED}&limit_1ms=7")
    assert speeds(response) == ["200", "100"]
    assert 'href="/drives/nvme-flash/?limit_1ms=7"' in response.text
    assert f'href="/drive/{run.product.slug}/?limit_1ms=7"' in response.text
    assert 'name="limit_1ms" value="7"' in response.text
    assert "limit_" not in client.get("/").text.replace('name="limit_', "")


@pytest.mark.parametrize(("limit", "speed"), [("5", ""), ("5.83", "900"), ("5.82", "")])
def test_a_log_that_fails_only_by_its_shares_passes_wider_limits(client, make_log_run, limit, speed):
    make_log_run(document=SLOW_DISK_VERDICT | {"reasons": []}, device_count=1)
    shown = speeds(client.get(f"{ANY_SPEED}&limit_1ms={limit}&limit_8ms=2&limit_64ms=1"))
    assert shown == ([speed] if speed else [])


@pytest.mark.parametrize("query", ["limit_1ms=x", "limit_2ms=5", "limit_1ms=1&limit_1ms=2", "min_device_tps=much"])
def test_an_invalid_parameter_is_named(client, query):
    response = client.get(f"/?{query}")
    assert (response.status_code, query.partition("=")[0] in response.text) == (400, True)


def test_runs_that_are_not_public_are_not_counted(client, make_published_run):
    make_published_run(visibility=Visibility.UNREVIEWED)
    make_published_run(visibility=Visibility.WITHDRAWN)
    assert "0 results, all from publications: 0 of current and 0 of historical drives." in client.get("/").text
    assert speeds(client.get(ANY_SPEED)) == []


def test_an_empty_register_has_a_home_page(client):
    assert "The register has no result of such drives with a speed and slow reads." in text_of(client.get("/"))


@pytest.mark.parametrize("is_virtual", [False, True])
def test_a_run_on_a_virtual_device_is_no_answer(client, make_published_run, is_virtual):
    make_published_run(tps=987_000, is_virtual=is_virtual)
    assert ("987,000" in client.get("/").text) is not is_virtual


def test_a_skip_link_leads_to_the_first_row(client, catalogue):
    text = client.get("/").text
    assert text.index('href="#answer-rows"') < text.index('href="#main"')
    assert '<tbody id="answer-rows" tabindex="-1">' in text


def test_home_is_small(client, catalogue):
    assert len(client.get("/").content) < 80_000


def test_the_endurance_gap_of_drives_whose_rating_exceeds_the_test_is_inside_its_drawing(client, catalogue):
    text = client.get("/?category=sata-sas-flash&min_device_tps=0").text
    spans = re.findall(r'class="span" x1="([-\d.]+)" x2="([-\d.]+)"', text)
    places = [float(place) for span in spans for place in span]
    assert len(places) == 4  # two drives, each with the sustained and the tested speed
    assert all(0 <= place <= GAP_WIDTH for place in places)


def test_systems_are_listed_by_their_whole_speed_in_the_table(client, catalogue):
    text = client.get("/?category=networked&min_device_tps=100000&threshold=8ms").text
    (address,) = set(re.findall(r'href="/drives/(\?category=networked[^"]*within=only[^"]*)"', text))
    rows = client.get(f"/drives/{address.replace('&amp;', '&')}&format=json").json()["rows"]
    assert rows
    assert all(int(row["tps"]) >= 100_000 for row in rows)
    assert [int(row["tps"]) for row in rows] == sorted((int(row["tps"]) for row in rows), reverse=True)
    assert "threshold=8ms" in address


def test_a_statistic_that_no_result_has_does_not_hide_the_others(client, catalogue):
    said = text_of(client.get(f"{ANY_SPEED}&statistic=worst-slice"))
    assert f"30 of 30 NVMe flash drives are {AS_PUBLISHED}" in said


def test_many_results_are_cells_that_link_to_the_table(client, catalogue, monkeypatch):
    monkeypatch.setattr(charted_rows, "MARKS_AT_MOST", 2)
    text = client.get("/?min_device_tps=499999").text
    cells = re.findall(r'href="(/drives/\?category=nvme-flash&amp;min_device_tps=[^"]*)"', text)
    assert read_rows(client.get(unescape(cells[0])))


def test_the_listed_drives_have_marks_also_if_there_are_too_many_results_for_one_mark_each(
    client, catalogue, monkeypatch
):
    monkeypatch.setattr(charted_rows, "MARKS_AT_MOST", 2)
    text = client.get("/?min_device_tps=499999").text
    speed_chart = text.partition('data-plot="speed-chart"')[2].partition("</svg>")[0]
    listed = re.findall(r'<a class="quiet" href="(/drive/[^"]*)"', text)
    marked = re.findall(r'<a class="m [^"]*" href="(/drive/[^"]*)"', speed_chart)
    assert listed
    assert set(listed) <= set(marked)
    assert "Marks show the frontier and the rows of this page; cells count all results." in text


def test_ratings_are_compared_with_speeds_of_physical_drives_only(client, make_product, make_published_run):
    product = make_product(endurance_dwpd=3, capacity_gb=6400)
    make_published_run(product=product, tps=900)
    make_published_run(product=product, tps=900, is_virtual=True)
    make_published_run(product=product, tps=None)
    assert "of 1 result of a rated drive" in text_of(client.get("/"))


@pytest.mark.parametrize("category", ["cloud", "nvme-flash~cloud"])
def test_the_categories_of_the_address_are_chosen_in_the_form(client, catalogue, category):
    assert f'<option value="{category}" selected>' in client.get(f"/?category={category}").text


def test_the_speed_is_a_whole_number(client):
    assert client.get("/?min_device_tps=500.5").status_code == 400


def test_the_form_states_what_kind_of_load_the_speed_is(client, catalogue):
    text = client.get("/").text
    assert '<a href="/explain/">2 reads to 1 write of 1,536-byte records</a>' in text


@pytest.mark.parametrize(
    ("rating", "speed", "verdict"),
    [
        ("3", 216_160, (5, "of 3, within")), ("2.99", 216_160, (5, "of 2.99, over")),
        (None, 216_160, (0, "within the limits")),
        ("3", 0, (0, "over its rating")), (None, 0, (0, "within the limits")),
    ],
)  # fmt: skip
def test_each_row_has_one_verdict_that_includes_its_endurance_rating_if_that_is_known(
    client, make_product, make_published_run, rating, speed, verdict
):
    place, said = verdict
    make_published_run(product=make_product(endurance_dwpd=rating, capacity_gb=6400), tps=900_000)
    row = read_rows(client.get(f"/?min_device_tps={speed}"))[0]
    assert row[place].endswith(said)
    name = row[0].removesuffix(said).strip()
    assert not name.endswith(("limits", "rating"))


@pytest.mark.parametrize(
    ("query", "models"),
    [
        ("min_tb=3.2", ["EX-B", "EX-C"]), ("min_tb=3.2&min_dwpd=3", ["EX-C"]),
        ("max_tb=3.1", ["EX-A"]), ("min_tb=3.2&max_tb=3.2", ["EX-B", "EX-C"]), ("min_tb=1.7&max_tb=3.1", []),
        ("min_dwpd=1", ["EX-A", "EX-C"]),
        ("min_dwpd=3.01", []),
    ],
)  # fmt: skip
def test_the_form_also_asks_for_capacity_and_endurance(client, make_product, make_published_run, query, models):
    for model, capacity, rating in (("EX-A", 1600, "1"), ("EX-B", 3200, None), ("EX-C", 3200, "3")):
        product = make_product(model=model, capacity_gb=capacity, endurance_dwpd=rating, vendor="Exemplar")
        make_published_run(product=product, tps=900_000)
    response = client.get(f"/?{query}")
    found = sorted(re.findall(r"EX-[ABC]", " ".join(row[0] for row in read_rows(response) if "EX-" in row[0])))
    assert found == models
    assert "Explore" not in response.text or "&quot;bounds&quot;" in response.text
    table = re.search(r'href="(/drives/[^"]*)">Open these drives as a table', response.text)[1]
    listed = [row for row in read_rows(client.get(unescape(table))) if "EX-" in row[0]]
    assert len(listed) == len(models)


def test_a_capacity_with_its_unit_becomes_plain_in_the_address(client, db):
    response = client.get("/?min_tb=800+GB&min_dwpd=1")
    assert (response.status_code, response["Location"]) == (302, "/?min_tb=0.8&min_dwpd=1")
    assert "with at least 0.8 TB and at least 1 DWPD" in text_of(client.get(response["Location"]))


def test_the_chart_of_home_labels_frontiers_and_answers_and_only_few_away_from_their_marks(client, catalogue):
    def names(address):
        svg = client.get(address).text.split('<g data-layer="labels"')[1].split("</g>")[0].replace("\N{NBSP}", " ")
        return set(re.findall(r'class="name wide"[^>]*>([^<]+)<', svg))

    with_lines = {"DC SN861 6.4 TB", "DataEngine 6.4 TB"}
    assert names("/") == with_lines | {"DataEngine", "12.8 TB", "CSD 3000"}
    assert client.get("/").text.count('class="leader wide"') == len(with_lines)
    allowed = names("/?min_device_tps=400000")  # two answers have a rating that allows it
    assert {"9400 Max", "DataEngine", "12.8 TB"} <= allowed
    assert len(names("/drives/nvme-flash/")) > 5
