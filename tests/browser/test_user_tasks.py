"""The main tasks of users, each done from its beginning with the keyboard only, in a real browser.

Sizing a cluster and checking a fleet by keyboard are in test_other_pages.py, the same tasks without JavaScript in
test_drive_tables.py and test_compare.py.
"""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.register import WITHOUT_SNAPSHOTS, Register, copy_prepared_data

pytestmark = pytest.mark.browser

TABS_MOST = 400
PUBLISH = """
from results.lifecycle import review
from tests.results.builders import log_bytes, make_organisation, make_user, send, wait_for
submission = send(make_organisation(), log_bytes("slow-disk-ms"))
wait_for(submission.runs.exists)
reviewer = make_user("reviewer", is_reviewer=True)
review.create_product(submission, reviewer)
review.publish(submission, reviewer)
"""
VERDICTS = """
import json
from results.models import Verdict
rows = Verdict.objects.order_by("run__public_id", "pk").values_list("run__public_id", "outcome", "headline", "document")
print(json.dumps(list(rows)))
"""
CREATE_MIRROR = """
from django.db import connection
connection.cursor().execute("CREATE DATABASE mirror")
stated = connection.settings_dict
print(f"postgresql://{stated['USER']}:{stated['PASSWORD']}@/mirror?host={stated['HOST']}")
"""
# As `manage.py migrate`, which takes three times the processor time; tests/checks/test_migrations.py compares both.
MIGRATE = """
from django.core.management import call_command
from tests import quick_states
quick_states.install()
call_command("migrate", verbosity=0)
"""


def tab_to(wanted):
    """Press Tab until the element has the focus, as a user without a mouse does."""
    for _ in range(TABS_MOST):
        wanted.page.keyboard.press("Tab")
        if wanted.evaluate("each => each === document.activeElement"):
            return
    raise AssertionError(f"{wanted}: not reached by {TABS_MOST} presses of Tab")


def type_into(field, text):
    """Go to a field and replace its value."""
    tab_to(field)
    field.page.keyboard.press("Control+A")
    field.page.keyboard.type(text)


def follow(link):
    """Go to a link and follow it."""
    address = re.compile(re.escape(link.get_attribute("href")))
    tab_to(link)
    link.page.keyboard.press("Enter")
    link.page.wait_for_url(address)


def test_a_drive_for_500000_tps_under_3_percent_over_1_ms_is_found(page):
    page.goto("/drives/nvme-flash/")
    type_into(page.get_by_label("Speed, at least"), "500000")
    type_into(page.get_by_label("Over 1 ms, at most"), "3")
    page.get_by_text("5 of 36 shown.").wait_for()
    follow(page.locator("table.runs tbody th a").first)
    assert "SN861" in page.get_by_role("heading", level=1).inner_text()


def test_the_effect_of_a_relaxed_limit_is_stated_and_kept(page):
    page.goto("/drives/cloud/")
    assert page.locator("table.runs .over").count() == 5
    type_into(page.get_by_label("Percent over 1 ms"), "13")
    page.get_by_text("With your limits, 40 of 40 pass; 5 that fail the profile pass").wait_for()
    page.reload()
    assert page.locator("table.runs .over").count() == 0


def test_two_drives_are_compared_with_limits_of_the_reader(page):
    page.goto("/compare/")
    type_into(page.get_by_label("Drive 1", exact=True), "sandisk-dc-sn861-6400gb")
    type_into(page.get_by_label("Drive 2", exact=True), "intel-p5510-7680gb")
    page.keyboard.press("Enter")
    page.wait_for_url("**/compare/?drive=*")
    assert "SN861" in page.get_by_role("heading", level=1).inner_text()
    assert "3.6 times the speed of" in page.locator(".verdict").inner_text()
    type_into(page.get_by_label("Percent over 1 ms"), "0.1")
    expect(page.locator("#limits-said")).to_contain_text("With your limits, 0 of 2 pass; 2 that pass the profile fail")
    expect(page.get_by_role("row", name=re.compile("^With your limits"))).to_contain_text("fails")
    page.wait_for_url("**&limit_1ms=0.1")
    page.reload()
    assert page.locator("#what-they-did .over").count() == 2


@pytest.mark.parametrize(
    ("publication", "shown", "claim", "gives"),
    [
        ("micron-7400-brief", ["+43.9", "+48.6"], "peak throughput improvement", "44 %"),
        ("micron-7450-brief", ["2.3x lower"], "latency ratio at 40,000 ops/s", "2.3 x"),
        ("micron-7450-brief", ["+95.7 %"], "throughput improvement at 15 ms", "95.7 %"),
        ("micron-x100-paper", ["13.8x lower"], "lower p99.9 read latency at 460,000 ops/s", "14 x"),
        ("kioxia-fl6-brief", ["9.8", "29.9", "26.7", "32.1", "26.1"], "throughput gain", "9.8 %"),
    ],
)
def test_a_claim_of_a_brief_is_reproduced_from_its_own_figures(page, publication, shown, claim, gives):
    page.goto("/ycsb/")
    follow(page.locator(f"a[href='/ycsb/{publication}/']").first)
    text = page.get_by_role("main").inner_text()
    assert [figure for figure in shown if figure not in text] == []
    follow(page.get_by_role("link", name="checked against its figures"))
    row = page.locator(f"details:has(#{publication}) table tr", has_text=claim).first
    assert gives in row.inner_text()


def test_ten_slow_reads_a_second_become_forty_thousand(page):
    page.goto("/nines/")
    assert "10 slow reads per second on one drive become 40,000 in 20 racks." in page.locator("#said").inner_text()
    type_into(page.get_by_label("Latency target of a drive, in nines"), "4")
    expect(page.locator("#said")).to_contain_text("400,000 in 20 racks")


@pytest.fixture(scope="module")
def published(tmp_path_factory):
    """A separate register with one published log, so that other tests do not find another drive."""
    register = Register(tmp_path_factory.mktemp("published") / "var", **WITHOUT_SNAPSHOTS)
    copy_prepared_data(tmp_path_factory, register.data_dir)
    register.start_and_wait()
    run_script(register, PUBLISH)
    yield register
    register.end()


def run_script(register, script, **environment):
    """Return the last line that a script prints on a register."""
    ended = register.run_command("shell", "--verbosity", "0", "--command", script, **environment)
    assert ended.returncode == 0, ended.stderr
    return (ended.stdout.splitlines() or [""])[-1]


def test_a_number_is_traced_to_the_lines_of_its_log(page, published):
    page.goto(f"{published.url}/drive/exemplar-ex4-3200gb/")
    follow(page.locator("table.runs a[href^='/runs/']").first)
    tab_to(page.locator("summary", has_text="slices"))
    page.keyboard.press("Enter")
    cell = page.locator("table.slices tr", has_text="0.33").first
    follow(cell.locator("a[href*='/lines/']"))
    marked = page.locator("tr.asked").all_inner_texts()
    assert 4 <= len(marked) <= 20
    assert any("reads (12000 total)" in line for line in marked)


def test_a_downloaded_dump_is_imported_with_the_same_verdicts(page, published, tmp_path):
    assert published.run_command("dump").returncode == 0
    page.goto(f"{published.url}/data/")
    link = page.get_by_role("link", name=re.compile("^verdicts as JSON"))
    with page.expect_download() as download:
        tab_to(link)
        page.keyboard.press("Enter")
    folder = link.get_attribute("href").rpartition("/")[0]
    download.value.save_as(tmp_path / "verdicts.json.gz")
    manifest = page.request.get(f"{published.url}{folder}/manifest.json").body()
    (tmp_path / "manifest.json").write_bytes(manifest)
    for name in {file["name"] for file in json.loads(manifest)["files"]} - {"verdicts.json.gz"}:
        (tmp_path / name).write_bytes(page.request.get(f"{published.url}{folder}/{name}").body())
    mirror = run_script(published, CREATE_MIRROR)
    run_script(published, MIGRATE, DATABASE_URL=mirror)
    ended = published.run_command("import_dump", str(tmp_path), DATABASE_URL=mirror)
    assert ended.returncode == 0, ended.stderr
    before = run_script(published, VERDICTS)
    assert '"fail"' in before
    assert run_script(published, VERDICTS, DATABASE_URL=mirror) == before
