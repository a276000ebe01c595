"""The public pages in a real browser: the main tasks of a visitor."""

import pytest

pytestmark = pytest.mark.browser

CATEGORIES = ["nvme-3dxpoint", "nvme-flash", "sata-sas-flash", "m2-flash", "networked", "cloud", "historical"]


def test_the_home_page_links_to_every_category(page):
    assert page.goto("/").status == 200
    links = {link.get_attribute("href") for link in page.locator("main a[href^='/drives/']").all()}
    assert {f"/drives/{slug}/" for slug in CATEGORIES} <= links


@pytest.mark.parametrize(("slug", "rows_count"), [("nvme-flash", 30), ("cloud", 40), ("historical", 22)])
def test_a_category_has_the_rows_of_the_published_page(page, slug, rows_count):
    assert page.goto(f"/drives/{slug}/").status == 200
    assert page.locator("main table.runs tbody tr:has(td)").count() == rows_count


def test_the_fastest_nvme_drive_comes_first(page):
    page.goto("/drives/nvme-flash/")
    first = page.locator("main table tbody tr:has(td)").first.inner_text()
    assert "SanDisk DC SN861 6.4 TB" in " ".join(first.split())
    assert "1,728,000" in first
    assert "0.56" in first


def test_the_first_staff_user_can_sign_in(page, credentials):
    page.goto("/submit/")  # redirects to the sign-in
    page.get_by_label("Username").fill(credentials["login"])
    page.get_by_label("Password").fill(credentials["password"])
    page.get_by_role("main").get_by_role("button", name="Sign in").click()
    page.wait_for_url("**/submit/")
    assert page.locator("main h1").count() == 1
