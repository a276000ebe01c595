"""Badges: current, readable for screen readers, and valid under any content policy."""

import pytest
from django.utils import timezone

from results.lifecycle import visibility
from results.models import Certificate, CertificateRun, Profile, Visibility
from tests.webapp.register.conftest import SLOW_DISK_VERDICT
from tests.webapp.register.syndication.answers import read_xml

pytestmark = pytest.mark.django_db
SVG = "{http://www.w3.org/2000/svg}"


def read_badge(client, product):
    answer = client.get(f"/drive/{product.slug}/badge.svg")
    assert (answer.status_code, answer["Content-Type"]) == (200, "image/svg+xml")
    root = read_xml(answer)
    return root, [text.text for text in root.iter(f"{SVG}text")]


def make_certificate(run, **fields):
    profile = Profile.objects.get(name="operational-database")
    stated = {"device_count": 1, "nx_load": 175, "exact_nx": "175", "ground": "g", "document": {}}
    made = Certificate.objects.create(product=run.product, profile=profile, **stated | fields)
    CertificateRun.objects.create(certificate=made, run=run)
    return made


def test_a_published_result_is_never_called_certified(client, make_published_run):
    run = make_published_run(tps=1_728_000, source="Aerospike")
    _, (first, second) = read_badge(client, run.product)
    assert first == "Drivecert: as published: 1,728,000 tps, no certificate"
    assert second == "published, Aerospike, date not reported"


def test_a_certificate_is_shown_with_load_tier_rule_version_and_date(client, make_log_run):
    made = make_certificate(make_log_run(tier="reviewed"))
    _, (first, second) = read_badge(client, made.product)
    assert first == "Drivecert: certified 175x on 1 device"
    assert second == f"reviewed, rule version 1, {made.issued_at:%-d %B %Y}"


def test_a_withdrawn_certificate_is_shown_immediately(client, make_log_run):
    made = make_certificate(make_log_run())
    read_badge(client, made.product)
    Certificate.objects.filter(pk=made.pk).update(state="withdrawn", withdrawn_at=timezone.now())
    _, (first, _) = read_badge(client, made.product)
    assert first == "Drivecert: certificate withdrawn"


def test_a_withdrawn_result_is_shown_immediately_and_cached_for_one_minute(client, make_published_run, staff):
    run = make_published_run()
    visibility.withdraw(run, staff, "A mistake in the set-up.")
    _, (first, _) = read_badge(client, run.product)
    assert first == "Drivecert: result withdrawn"
    assert client.get(f"/drive/{run.product.slug}/badge.svg")["Cache-Control"] == "public, max-age=60"


def test_a_failing_run_is_marked(client, make_log_run):
    _, (first, second) = read_badge(client, make_log_run(tier="reviewed").product)
    assert first == "Drivecert: fails at 900 tps, no certificate"
    assert "rule version 1" in second


PASSING = SLOW_DISK_VERDICT | {"outcome": "pass", "headline": "passes", "shares": [], "violations": []}


def test_a_run_with_a_speed_precedes_one_without(client, make_log_run):
    stated = make_log_run(document=PASSING)
    make_log_run(product=stated.product, document=PASSING, tps=None)
    _, (first, _) = read_badge(client, stated.product)
    assert first == "Drivecert: passes at 900 tps, no certificate"


def test_a_passing_run_precedes_a_faster_one_that_fails(client, make_log_run):
    passing = make_log_run(document=PASSING)
    make_log_run(product=passing.product, tps=1800)
    _, (first, _) = read_badge(client, passing.product)
    assert first == "Drivecert: passes at 900 tps, no certificate"


def test_a_published_speed_is_not_compared_with_that_of_a_log(client, make_log_run, make_published_run):
    run = make_log_run(document=PASSING)
    make_published_run(product=run.product, tps=300_000)
    _, (first, _) = read_badge(client, run.product)
    assert first == "Drivecert: passes at 900 tps, no certificate"


def test_the_title_names_the_product_for_screen_readers(client, make_published_run, make_product):
    root, _ = read_badge(client, make_published_run(product=make_product(vendor="Exemplar", model="EX7")).product)
    title = root.find(f"{SVG}title")
    assert root.get("role") == "img"
    assert root.get("aria-labelledby") == title.get("id")
    assert title.text.startswith(
        "Exemplar EX7 3.2\N{NO-BREAK SPACE}TB. Drivecert: as published"
    ) or title.text.startswith("Exemplar EX7 3.2 TB. Drivecert: as published")


def test_the_badge_has_nothing_that_a_content_policy_refuses(client, make_published_run):
    root, _ = read_badge(client, make_published_run().product)
    assert {element.tag.removeprefix(SVG) for element in root.iter()} == {"svg", "title", "rect", "path", "g", "text"}
    names = {name for element in root.iter() for name in element.attrib}
    assert not [name for name in names if name.startswith("on") or "href" in name or name == "style"]


@pytest.mark.parametrize("name", ['<script>alert("1")</script>', "\u202eevil", "ab\x0bc", "Ж" * 200])
def test_names_are_escaped(client, make_published_run, make_product, name):
    root, texts = read_badge(client, make_published_run(product=make_product(model=name)).product)
    assert len(texts) == 2
    assert "\u202e" not in root.find(f"{SVG}title").text


def test_text_is_limited_to_the_width_of_the_badge(client, make_published_run):
    root, _ = read_badge(client, make_published_run(source="M" * 150).product)
    assert all(
        float(text.get("x")) + float(text.get("textLength")) < float(root.get("width"))
        for text in root.iter(f"{SVG}text")
    )


def test_a_product_that_is_not_public_has_no_badge(client, make_published_run):
    run = make_published_run(visibility=Visibility.UNREVIEWED)
    for name in ("badge.svg", "picture.png", "feed.atom"):
        assert client.get(f"/drive/{run.product.slug}/{name}").status_code == 404
