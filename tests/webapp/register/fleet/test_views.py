"""The fleet check: the state of each drive, and no storage of the list."""

import json
import re
from pathlib import Path

import pytest
from django.apps import apps
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from results.models import Certificate, Product, Profile, Visibility, categories
from webapp.api.authentication import ReadThrottle
from webapp.register.fleet.answers import MEANINGS, State
from webapp.register.fleet.views import LIST_BYTES_MAX
from webapp.register.tables.sentences import product_name

pytestmark = pytest.mark.django_db


@pytest.fixture
def certify():
    """Return a function that gives a product a certificate."""

    def make(product, firmware="F1", **fields):
        return Certificate.objects.create(
            **{
                "product": product, "profile": Profile.objects.get(), "device_count": 1, "nx_load": 50,
                "exact_nx": "50", "firmware": firmware, "ground": f"g{firmware}",
                "document": {"present": [], "reasons": []},
            }
            | fields
        )  # fmt: skip

    return make


@pytest.fixture
def ex4(make_product):
    return make_product(vendor="Exemplar", model="DC EX4", part_number="MZQL23T2", capacity_gb=3200)


def ask(client, *drives, **extra):
    """Return state and sentence for each (model, firmware, capacity)."""
    lines = ["model,firmware,capacity_gb", *(",".join(drive) for drive in drives)]
    response = client.post("/check/answer/", {"list": "\n".join(lines), "format": "json"} | extra).json()
    return [(row["state"], row["sentence"]) for row in response["rows"]]


def test_a_drive_with_the_certified_firmware_is_certified(client, ex4, make_log_run, certify):
    make_log_run(product=ex4)
    certificate = certify(ex4)
    assert ask(client, ("EXEMPLAR MZQL23T2", "f1", "3201")) == [
        ("certified", f"Certificate {certificate.public_id} at 50x, firmware F1.")
    ]


def test_another_firmware_is_shown_with_the_certified_one(client, ex4, make_log_run, certify):
    make_log_run(product=ex4)
    certify(ex4)
    assert ask(client, ("DC EX4", "F2", "3200"), ("DC EX4", "", "3200")) == [
        ("other-firmware", "Certified with firmware F1, not F2."),
        ("other-firmware", "Certified with firmware F1; the list has no firmware for this drive."),
    ]


def test_a_withdrawn_certificate_is_withdrawn(client, ex4, make_log_run, certify):
    make_log_run(product=ex4)
    certificate = certify(ex4, state="withdrawn")
    assert ask(client, ("DC EX4", "F1", "3200")) == [
        ("withdrawn", f"Certificate {certificate.public_id} was withdrawn.")
    ]
    assert MEANINGS[State.WITHDRAWN] == "The certificate of the drive was withdrawn, or all its results were."


def test_a_product_whose_runs_are_all_withdrawn_is_withdrawn(client, ex4, make_published_run):
    make_published_run(product=ex4, visibility=Visibility.WITHDRAWN)
    assert ask(client, ("DC EX4", "F1", "3200")) == [("withdrawn", "The results of this drive were withdrawn.")]


def test_a_drive_without_an_act_result_is_not_called_withdrawn(client, ex4, make_published_run):
    make_published_run(product=ex4, workload="ycsb", tier="reviewed", statistic="overall")
    assert ask(client, ("DC EX4", "F1", "3200")) == [
        ("unknown", "The register has no current ACT result of this drive.")
    ]


def test_published_history_is_never_called_certified(client, ex4, make_published_run):
    make_published_run(product=ex4)
    assert ask(client, ("DC EX4", "F1", "3200")) == [
        ("published", "The drive has 1 result from publications, without a log and without a certificate.")
    ]


def test_a_tested_drive_without_a_certificate_is_not_certified(client, ex4, make_log_run):
    make_log_run(product=ex4)
    assert ask(client, ("DC EX4", "F1", "3200"))[0][0] == "tested"


def test_a_database_run_does_not_test_the_drive(client, ex4, make_published_run):
    make_published_run(product=ex4)
    make_published_run(product=ex4, workload="ycsb", tier="reviewed", statistic="overall")
    assert ask(client, ("DC EX4", "F1", "3200"))[0][0] == "published"


def test_an_unreviewed_run_does_not_reveal_its_product(client, ex4, make_log_run):
    make_log_run(product=ex4, visibility=Visibility.UNREVIEWED)
    assert ask(client, ("DC EX4", "F1", "3200"))[0][0] == "unknown"


@pytest.mark.parametrize(
    ("model", "capacity", "state"),
    [
        ("DC EX4", "3200", "published"), ("EX4", "3200", "published"), ("Exemplar EX4 U.2", "3201", "published"),
        ("EX4", "3296", "published"), ("EX4", "3297", "other-capacity"), ("EX4", "1600", "other-capacity"),
        ("EX40", "3200", "unknown"), ("DC", "3200", "unknown"), ("EX", "3200", "unknown"),
        ("Exemplar", "3200", "unknown"),
    ],
)  # fmt: skip
def test_a_model_matches_by_whole_words_and_capacity(client, ex4, make_published_run, model, capacity, state):
    make_published_run(product=ex4)
    assert ask(client, (model, "F1", capacity))[0][0] == state


def test_a_list_without_capacities_matches_none_of_several(client, ex4, make_product, make_published_run):
    make_published_run(product=ex4)
    assert ask(client, ("DC EX4", "", ""))[0][0] == "published"
    make_published_run(product=make_product(vendor="Exemplar", model="DC EX4", capacity_gb=6400))
    state, sentence = ask(client, ("DC EX4", "", ""))[0]
    assert state == "unknown"
    assert "has no capacity for this drive" in sentence


def test_an_unreported_capacity_is_stated_next_to_the_answer(client, ex4, make_log_run, certify):
    make_log_run(product=ex4)
    certificate = certify(ex4)
    certified = f"Certificate {certificate.public_id} at 50x, firmware F1."
    untold = "The list has no capacity; 3.2\N{NO-BREAK SPACE}TB, the only one in the register, is assumed."
    assert ask(client, ("DC EX4", "F1", ""), ("DC EX4", "F1", "3200")) == [
        ("certified", f"{certified} {untold}"),
        ("certified", certified),
    ]
    text = client.post("/check/answer/", {"list": "model\nDC EX4\n"}).text
    assert "If the list has no capacity for a drive and the register has only one" in text


def test_a_superseded_result_is_not_counted(client, ex4, make_published_run, make_log_run):
    stands = make_published_run(product=ex4)
    make_published_run(product=ex4, visibility=Visibility.SUPERSEDED, superseded_by=stands)
    make_log_run(product=ex4, visibility=Visibility.SUPERSEDED, superseded_by=stands)
    assert ask(client, ("DC EX4", "F1", "3200")) == [
        ("published", "The drive has 1 result from publications, without a log and without a certificate.")
    ]


def test_the_nearest_of_two_close_capacities_matches(client, make_product, make_published_run):
    for capacity_gb in (1900, 1920):
        make_published_run(
            product=make_product(vendor="Exemplar", model="P100", capacity_gb=capacity_gb, slug=f"p-{capacity_gb}")
        )
    response = client.post(
        "/check/answer/", {"list": "model,capacity_gb\nP100,1920\nP100,1901\n", "format": "json"}
    ).json()
    assert [row["products"] for row in response["rows"]] == ["p-1920", "p-1900"]


def test_a_model_name_of_another_maker_does_not_match(client, make_product, make_published_run):
    for vendor in ("Exemplar", "Western Digital"):
        make_published_run(product=make_product(vendor=vendor, model="P100", capacity_gb=960))
    response = client.post(
        "/check/answer/", {"list": "vendor,model,capacity_gb\n,WDC P100,960\n", "format": "json"}
    ).json()
    assert len(response["rows"][0]["products"].split()) == 1


def test_the_published_drives_are_found_by_name(client, catalogue):
    found = ask(client, ("SanDisk DC SN861", "", "6400"), ("INTEL P4610", "", "1600"), ("Samsung PM983", "", "1920"))
    assert [state for state, _ in found] == ["published"] * 3


def products_of(client, *lines):
    response = client.post(
        "/check/answer/", {"list": "\n".join(["vendor,model,capacity_gb", *lines]), "format": "json"}
    )
    return [row["products"] for row in response.json()["rows"]]


def test_every_published_drive_is_found_by_maker_model_and_capacity(client, catalogue):
    drives = Product.objects.public().filter(category__in=categories.OF_DRIVES, capacity_gb__isnull=False)
    found = products_of(client, *(f"{each.vendor},{each.model},{each.capacity_gb}" for each in drives))
    assert [
        each.slug for each, slugs in zip(drives, found, strict=True) if each.slug not in (slugs or "").split()
    ] == []


def test_a_model_without_a_digit_matches_only_with_its_maker(client, make_product, make_published_run):
    make_published_run(product=make_product(vendor="Smart IOPS", model="DataEngine", capacity_gb=6400, slug="engine"))
    lines = ["Smart IOPS,DataEngine,6400", ",SMART IOPS DataEngine,6400", "Smart IOPS,DataEngine,"]
    assert products_of(client, *lines) == ["engine"] * 3
    assert products_of(client, ",DataEngine,6400", "Smart,DataEngine,6400", "Smart IOPS,Engine,6400") == [None] * 3


def test_the_page_has_counts_and_explanations(client, ex4, make_published_run):
    make_published_run(product=ex4)
    text = client.post("/check/answer/", {"list": "model\nDC EX4\nnobody's drive\n"}).text
    assert '<p class="lede">1 as published, 1 unknown.</p>' in text
    assert [word for word in ("0 certified", "0 tested", "0 withdrawn") if word in text] == []
    assert f'See <a href="/drive/{ex4.slug}/"><bdi>{product_name(ex4)}</bdi></a>.' in text
    assert "without a log or a certificate" in text


@pytest.mark.parametrize(
    ("text", "heads"),
    [
        ("model\nDC EX4\n", ["Register", "Model", "Capacity", "Why"]),
        ("model,firmware\nDC EX4,F1\nDC EX5,\n", ["Register", "Model", "Firmware", "Capacity", "Why"]),
        (
            json.dumps({"Devices": [{"ModelNumber": "EX4", "DevicePath": "/dev/nvme0n1"}]}),
            ["Register", "Device", "Model"],
        ),
    ],
)
def test_a_column_without_values_is_left_out(client, ex4, text, heads):
    page = client.post("/check/answer/", {"list": text}).text.split("<h2>What the register knows</h2>")[1]
    assert re.findall(r'<th scope="col".*?>(\w+)</a></th>', page)[: len(heads)] == heads


def test_a_file_is_read_like_pasted_text(client, ex4, make_published_run):
    make_published_run(product=ex4)
    content = json.dumps({"Devices": [{"ModelNumber": "DC EX4", "PhysicalSize": 3200631791616}]}).encode("utf-16")
    response = client.post("/check/answer/", {"file": SimpleUploadedFile("n.json", content), "format": "json"}).json()
    assert response["rows"][0]["state"] == "published"


def files_below(path):
    return {str(found) for found in Path(path).rglob("*") if found.is_file()}


def test_no_part_of_a_list_is_stored(client, catalogue, tmp_path, settings, count_queries):
    settings.FILE_UPLOAD_TEMP_DIR = str(tmp_path)
    models = apps.get_models()
    rows, files = {model: model.objects.count() for model in models}, files_below(settings.DATA_DIR)
    upload = SimpleUploadedFile("fleet.csv", b"model\n" + b"secret drive\n" * 4_000)
    response = client.post("/check/answer/", {"file": upload})
    assert response.status_code == 200
    assert response["Cache-Control"] == "private, no-cache"  # for the user's own browser: Back shows the answer
    assert {model: model.objects.count() for model in models} == rows
    assert files_below(settings.DATA_DIR) == files
    assert list(tmp_path.iterdir()) == []
    assert not response.cookies


def test_the_form_leads_readers_with_a_log_to_the_page_that_reads_it(client):
    assert 'To have a log judged, use <a href="/try/">Try your log</a>.' in client.get("/check/").text


def test_a_check_needs_no_token_and_the_form_is_the_same_for_everyone(db):
    strict = Client(enforce_csrf_checks=True)
    form = strict.get("/check/")
    assert form["Cache-Control"] == "public, max-age=60"
    assert not form.cookies
    assert strict.post("/check/answer/", {"list": "model\nx\n"}).status_code == 200


@pytest.mark.parametrize("method", ["post", "put", "delete", "patch"])
def test_the_form_does_not_write(client, method):
    assert getattr(client, method)("/check/").status_code == 405


def test_the_address_of_an_answer_without_a_list_shows_the_form(client):
    response = client.get("/check/answer/")
    assert (response.status_code, response["Location"]) == (302, "/check/")


@pytest.mark.parametrize("text", ["", "prose without end", "[" * 100_000, '{"Devices": 5}'])
def test_input_that_is_not_a_list_is_refused_with_a_message(client, text):
    response = client.post("/check/answer/", {"list": text})
    assert response.status_code == 400
    assert "expected the output of nvme list" in response.text or "nested too deeply" in response.text


def test_pasted_text_is_returned_with_its_errors(client):
    response = client.post("/check/answer/", {"list": "<b>prose</b> without end"})
    assert "&lt;b&gt;prose&lt;/b&gt; without end</textarea>" in response.text
    assert 'id="list-error"' in response.text
    assert 'aria-invalid="true"' in response.text
    assert 'id="list-error"' not in client.get("/check/").text


@pytest.mark.parametrize("sent", ["list", "file"])
def test_a_list_that_is_too_large_is_refused_with_a_message(client, sent):
    content = "model\n" + "x" * (LIST_BYTES_MAX + 1)
    value = content if sent == "list" else SimpleUploadedFile("f", content.encode())
    response = client.post("/check/answer/", {sent: value})
    assert response.status_code == 413
    assert "Split it and check the parts." in response.text


def test_a_body_with_a_huge_content_length_is_not_read(client):
    response = client.generic("POST", "/check/answer/", b"x", "multipart/form-data; boundary=b", CONTENT_LENGTH=10**12)
    assert response.status_code == 413


@pytest.mark.parametrize("length", ["many", "-1", "1e3", "9" * 5_000, "\N{SUPERSCRIPT TWO}"])
def test_a_body_with_an_invalid_content_length_is_refused_with_a_message(client, length):
    kind = "multipart/form-data; boundary=b"
    response = client.generic("POST", "/check/answer/", b"x", kind, CONTENT_LENGTH=length)
    assert response.status_code in {400, 413}
    assert "The form arrived incomplete" in response.text or "Split it and check the parts." in response.text


def test_an_incomplete_form_is_answered(client):
    response = client.generic("POST", "/check/answer/", b"--b\r\nnothing", "multipart/form-data; boundary=")
    assert response.status_code == 400


def test_the_form_is_throttled_together_with_the_api(client, monkeypatch):
    monkeypatch.setattr(ReadThrottle, "rate", "2/min")
    assert client.post("/check/answer/", {"list": "model\nx\n"}).status_code == 200
    assert client.generic("POST", "/api/v1/check/", "model\nx\n", "text/csv").status_code == 200
    refused = client.post("/check/answer/", {"list": "model\nx\n"})
    assert (refused.status_code, refused["Cache-Control"]) == (429, "private, no-cache")
    assert 0 < int(refused["Retry-After"]) <= 60
    assert "Too many lists. Send it again in " in refused.text
    assert client.generic("POST", "/api/v1/check/", "model\nx\n", "text/csv").status_code == 429


def test_names_in_a_list_are_escaped(client):
    text = client.post(
        "/check/answer/", {"list": "model,device\n<script>alert(1)</script>,\u202eevil\n=cmd(),x\n"}
    ).text
    assert "<script>alert" not in text
    assert "<bdi>\u202eevil</bdi>" in text
    lines = client.post("/check/answer/", {"list": "model\n=cmd()\n", "format": "csv"}).text
    assert "'=cmd()" in lines


def test_a_check_needs_as_many_queries_for_any_fleet_and_register(
    client, make_product, make_published_run, django_assert_num_queries
):
    for _ in range(3):
        make_published_run(product=make_product())
    with django_assert_num_queries(14):
        ask(client, ("EX1", "", ""))
    for _ in range(20):
        make_published_run(product=make_product())
    with django_assert_num_queries(14):
        ask(client, *[(f"EX{number}", "", "3200") for number in range(500)])


def test_the_evidence_directory_is_not_written(client):
    before = files_below(settings.EVIDENCE_DIR)
    client.post("/check/answer/", {"list": "model\nx\n"})
    assert files_below(settings.EVIDENCE_DIR) == before


NVME_LIST = (settings.BASE_DIR / "tests/data/fleet/nvme-list-1.txt").read_text()


def test_plain_output_is_answered_like_json(client, catalogue):
    text = client.post("/check/answer/", {"list": NVME_LIST}).text
    assert "<h1>The register knows 3 of 3 drives</h1>" in text
    for slug in (
        "micron-9300-max-6400gb",
        "samsung-pm983-1920gb",
        "intel-p5800x-1600gb",
    ):  # the last one is the nearest
        assert text.count(f'<td class="next">See <a href="/drive/{slug}/">') == 1


STEPS = {
    "DC EX4,F1,3200": "view-results",
    "DC EX4,F1,6400": "view-nearest",
    "TOASTER 9000,F1,3200": "submit",
}


def next_steps(client, text):
    rows = client.post("/check/answer/", {"list": text, "format": "json"}).json()["rows"]
    return [row["next_step"] for row in rows]


def test_each_drive_has_a_next_step(client, ex4, make_published_run):
    make_published_run(product=ex4)
    assert next_steps(client, "\n".join(["model,firmware,capacity_gb", *STEPS])) == list(STEPS.values())
    assert next_steps(client, "NAME SIZE TYPE\nvda    1T disk\n") == ["name-model"]


def test_another_firmware_is_to_be_tested_and_a_withdrawal_to_be_read(client, ex4, make_log_run, certify):
    make_log_run(product=ex4)
    certificate, listed = certify(ex4), "model,firmware,capacity_gb\nDC EX4,F2,3200"
    assert next_steps(client, listed) == ["test-firmware"]
    certificate.state = "withdrawn"
    certificate.save()
    assert next_steps(client, listed) == ["view-reason"]


def test_a_drive_of_several_capacities_needs_its_capacity(client, ex4, make_product, make_published_run):
    make_published_run(product=ex4)
    make_published_run(product=make_product(vendor="Exemplar", model="DC EX4", capacity_gb=6400))
    assert next_steps(client, "model\nDC EX4") == ["name-capacity"]


def test_the_page_links_to_the_form_of_results_only_where_a_test_is_the_next_step(client, ex4, make_published_run):
    make_published_run(product=ex4)
    tested, untested = (
        client.post("/check/answer/", {"list": f"model\n{name}"}).text.split("<tbody>")[2].split("</tbody>")[0]
        for name in ("DC EX4", "TOASTER 9000")
    )
    assert ('href="/submit/"' in tested, 'href="/submit/"' in untested) == (False, True)


def test_a_phone_row_names_the_firmware(client, ex4):
    page = client.post("/check/answer/", {"list": "model,firmware,capacity_gb\nEX4,F2,4000\n"})
    assert '<span class="only-phone">firmware </span><bdi>F2</bdi>' in page.text
