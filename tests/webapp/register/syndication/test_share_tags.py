"""Description and share tags: on every public page, once, with the address of the view; on no private page."""

import re
from html import unescape

import pytest
from django.utils import timezone

from results.catalogue.claims import import_claims, import_figures
from results.models import Visibility
from tests.browser.test_pages import VISITS
from tests.results.builders import link_key

SITE = "http://127.0.0.1:8000"
NAMES = ("description", "twitter:card")
PROPERTIES = ("og:title", "og:description", "og:url", "og:type", "og:site_name")
OTHERS = ("/explain/", "/explain/rules/", "/data/", "/api/v1/docs/", "/search/", "/drives/", "/about/", "/news/")


def read_tags(text):
    """Return the contents of the meta tags by name or property."""
    tags = {}
    for name, content in re.findall(r'<meta (?:name|property)="([\w:]+)" content="([^"]*)">', text):
        tags.setdefault(name, []).append(unescape(content))
    return tags


@pytest.mark.django_db
def test_every_public_page_has_each_tag_once_with_a_text(client, catalogue):
    import_figures()
    import_claims()
    paths = [*(visit.path for visit in VISITS), *OTHERS, f"/news/{timezone.now():%Y-%m}/"]
    for path in paths:
        answer = client.get(path)
        assert answer.status_code == 200, path
        tags = read_tags(answer.text)
        for name in (*NAMES, *PROPERTIES):
            assert len(tags.get(name, [])) == 1, f"{path}: {name}: {tags.get(name)}"
            assert tags[name][0].strip(), f"{path}: {name} is empty"
        assert tags["og:description"] == tags["description"], path
        assert 30 <= len(tags["description"][0]) <= 300, f"{path}: {tags['description'][0]}"
        assert tags["og:url"] == [f"{SITE}{path}"]


@pytest.mark.django_db
def test_no_two_kinds_of_pages_have_the_same_description(client, catalogue):
    paths = [visit.path for visit in VISITS if "/ycsb/micron" not in visit.path and "/ycsb/kioxia" not in visit.path]
    paths = [path for path in paths if not path.startswith("/ycsb/claims/?")]  # the same page, filtered
    found = [read_tags(client.get(path).text)["description"][0] for path in paths]
    assert len(set(found)) == len(found)


@pytest.mark.django_db
def test_a_shared_view_keeps_its_parameters(client, catalogue):
    text = client.get("/drives/nvme-flash/?vendor=intel&limit_1ms=3").text
    assert read_tags(text)["og:url"] == [f"{SITE}/drives/nvme-flash/?vendor=intel&limit_1ms=3"]
    assert f'<link rel="canonical" href="{SITE}/drives/nvme-flash/">' in text


@pytest.mark.django_db
def test_a_page_with_a_picture_has_a_large_card(client, make_published_run):
    run = make_published_run()
    for path in (f"/drive/{run.product.slug}/", f"/runs/{run.public_id}/"):
        tags = read_tags(client.get(path).text)
        assert tags["og:image"] == [f"{SITE}/drive/{run.product.slug}/picture.png"]
        assert tags["twitter:card"] == ["summary_large_image"]
    assert "og:image" not in read_tags(client.get("/about/").text)


@pytest.mark.django_db
def test_a_name_cannot_end_a_tag(client, make_published_run, make_product):
    product = make_published_run(product=make_product(model='"><script>alert(1)</script>\u202e')).product
    text = client.get(f"/drive/{product.slug}/").text
    assert '"><script>alert(1)' not in text
    assert '"><script>alert(1)</script>' in read_tags(text)["og:title"][0]


@pytest.mark.django_db
def test_private_pages_have_no_share_tags(staff_client, client, make_log_run):
    run = make_log_run(visibility=Visibility.UNREVIEWED)
    key = f"?key={link_key(run.submission)}"
    private = [f"/runs/{run.public_id}/", f"/runs/{run.public_id}/slices/1/", "/submissions/", "/lab/", "/submit/"]
    texts = {path: staff_client.get(path).text for path in private}
    texts |= {
        path: client.get(path).text
        for path in (f"/runs/{run.public_id}/{key}", f"/runs/{run.public_id}/slices/1/{key}")
    }
    texts |= {path: client.get(path).text for path in ("/accounts/login/", "/nothing/")}
    for path, text in texts.items():
        assert "og:" not in text, path
        assert 'name="description"' not in text, path


@pytest.mark.django_db
def test_the_key_of_a_link_is_in_no_tag_of_a_public_run(client, make_log_run):
    run = make_log_run()
    for path in (f"/runs/{run.public_id}/", f"/runs/{run.public_id}/slices/1/"):
        tags = read_tags(client.get(f"{path}?key={link_key(run.submission)}").text)
        assert tags["og:url"] == [f"{SITE}{path}"]
