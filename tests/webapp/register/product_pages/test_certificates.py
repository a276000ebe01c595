import pytest
from django.db import transaction

from results.certification.certificates import refresh_certificates
from results.lifecycle import visibility
from results.models import Certificate
from tests.results.builders import make_user
from tests.results.rows import make_judged_run, make_product, prepare

pytestmark = pytest.mark.django_db


@pytest.fixture
def product(db):
    return make_product()


def certify(product, nx=30):
    runs = [make_judged_run(product, nx), make_judged_run(product, 2 * nx, "fail")]
    for run in runs:
        prepare(run)
    with transaction.atomic():
        refresh_certificates([product.pk])
    return runs


def test_a_product_shows_its_certificate_with_its_runs(client, product):
    load, stress = certify(product)
    response = client.get(f"/drive/{product.slug}/")
    page = response.text
    assert response.context["answer"].startswith("Certified at 30x on 1 device.")
    assert "<b>30x</b> on 1 device, firmware <bdi>FW1</bdi>" in page
    assert f"load test {load.public_id} passes at 30x" in page
    assert f'<a href="/runs/{stress.public_id}/">run {stress.public_id}</a>' in page
    assert Certificate.objects.get().public_id in client.get(f"/runs/{load.public_id}/").text


def test_a_withdrawn_certificate_is_shown_with_its_reason(client, product):
    load, _ = certify(product)
    visibility.withdraw(load, make_user("rita"), "Wrong drive.")
    page = client.get(f"/drive/{product.slug}/").text
    assert '<span class="fail">withdrawn</span>, under profile' in page
    assert f"It rested on {load.public_id}, which is no longer a current run" in page


def test_a_product_without_a_certificate_lists_what_is_missing(client, product):
    run = make_judged_run(product, 30)
    page = client.get(f"/drive/{product.slug}/").text
    assert "No certificate for one device at 30x yet" in page
    assert f"load test {run.public_id} passes at 30x" in page
    assert "a stress test at 60x is missing" in page
    assert "cannot be shown" in page


def test_a_ladder_is_ordered_by_load(client, product, make_published_run):
    for nx in (60, 30, 90):
        make_judged_run(product, nx).shares.create(
            statistic="worst-slice", threshold_us=1000, share_pct=nx, printed=f"{nx}.00", over_count=nx, ops_count=100
        )
    make_published_run(product=product, nx_load=45)  # the only one of its statistic
    (ladder,) = client.get(f"/drive/{product.slug}/").context["ladders"]
    (line,) = ladder["panels"][0]["lines"]
    assert [rung.load for rung in line.rungs] == [30, 60, 90]
    assert line.rungs[2].is_over


def test_certificates_are_listed_and_filtered(client, product):
    certify(product)
    certify(product, 90)
    other = make_product()
    certify(other, 10)

    def listed(query):
        return [each["nx_load"] for each in client.get(f"/api/v1/certificates/{query}").json()["results"]]

    assert listed("") == ["10.0000", "90.0000", "30.0000"]
    assert listed(f"?product={product.slug}&min_nx=30.0001") == ["90.0000"]
    assert listed("?min_nx=30") == ["90.0000", "30.0000"]
    assert listed("?state=withdrawn") == []


@pytest.mark.parametrize(("query", "field"), [("min_nx=lots", "min_nx"), ("min_nx=1e999999", "min_nx"),
                         ("product=%00", "product"), ("min_nx=NaN", "min_nx"),
                                              ("state=open", "state"), ("colour=red", "colour")])  # fmt: skip
def test_an_invalid_filter_is_named(client, db, query, field):
    answer = client.get(f"/api/v1/certificates/?{query}")
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (400, field)


@pytest.mark.parametrize(("query", "expected"), [("min_nx=lots", "Expected a decimal such as 30 or 466.67."),
                         ("state=open", "Expected one of standing, withdrawn, got open.")])  # fmt: skip
def test_a_refused_filter_states_what_was_expected(client, db, query, expected):
    assert expected in client.get(f"/api/v1/certificates/?{query}").json()["errors"][0].values()


def test_a_certificate_is_found_by_its_id_with_its_history(client, product):
    runs = certify(product)
    certificate = Certificate.objects.get()
    document = client.get(f"/api/v1/certificates/{certificate.public_id}/").json()
    assert (document["state"], document["exact_nx"], document["product"]) == ("standing", "30", product.slug)
    assert set(document["runs"]) == {run.public_id for run in runs}
    assert [event["kind"] for event in document["history"]] == ["certificate-issued"]
    assert client.get("/api/v1/certificates/c-nothere/").status_code == 404


@pytest.mark.parametrize("path", ["/drive/{}/", "/api/v1/certificates/?product={}"])
def test_a_product_needs_as_many_queries_for_1_certificate_as_for_20(count_queries, product, path):
    certify(product)
    few = count_queries(path.format(product.slug))
    for nx in range(100, 2000, 100):
        certify(product, nx)
    assert count_queries(path.format(product.slug)) == few
