"""The load of each drive in a fleet check: what the tests and the rating of each model say about it."""

import re

import pytest

pytestmark = pytest.mark.django_db
LIST = "model,count\nDC EX4,4\nDC EX5,1\nDC EX6,1\nDC EX4,1\n"


@pytest.fixture
def drives(make_product, make_published_run):
    """Return a drive at 400,000 tps, a slower one with a high rating, and one over a limit."""
    models = (("DC EX4", "3", 400_000, "1.5"), ("DC EX5", "100", 200_000, "1.5"), ("DC EX6", "3", 500_000, "9.5"))
    for model, rated, tps, share in models:
        product = make_product(vendor="Exemplar", model=model, capacity_gb=3200, endurance_dwpd=rated)
        make_published_run(product=product, tps=tps, shares={1000: share})


def answer_of(client, **fields):
    return client.post("/check/answer/", {"list": LIST} | fields).text


def rows_of(text):
    table = text.split('<table class="stacked" id="loads">')[1].split("</table>")[0]
    rows = re.findall(r"<tr><th scope=\"row\">.*?</tr>", table)
    return [" ".join(re.sub(r"<[^>]+>", " ", row).split()) for row in rows]


def test_the_lead_answers_for_the_load(client, drives):
    text = answer_of(client, min_device_tps="400k")
    assert "<b>1 of 3 models was tested at your load within your limits; 1 is rated for it.</b>" in text
    assert "Your load is 400,000 tps of each drive." in text


@pytest.mark.parametrize(("more", "words"), [("X1,1\n", "1 of them"), ("X1,1\nX2,1\n", "2 of them")])
def test_the_lead_counts_the_models_that_the_register_does_not_know(client, drives, more, words):
    text = answer_of(client, list=LIST + more, min_device_tps="400k")
    assert f"1 is rated for it. The register does not know {words}.</b>" in text


def test_a_model_in_another_capacity_is_not_counted_as_unknown(client, drives):
    text = answer_of(
        client, list="model,capacity_gb\nExemplar DC EX4,3200\nExemplar DC EX4,6400\n", min_device_tps="400k"
    )
    assert "known, other capacity" in text
    assert "does not know" not in text


def test_each_model_is_one_row_with_its_tests_and_its_rating(client, drives):
    first, slower, over = rows_of(answer_of(client, min_device_tps="400,000"))
    assert first.startswith("Exemplar DC EX4 3.2 TB 5 drives 400,000")
    assert "within your limits: yes endurance: 11.1 of 3 DWPD, over" in first
    assert "within your limits: not tested at it endurance: 11.1 of 100 DWPD, within" in slower
    assert "within your limits: no: over a limit" in over


@pytest.mark.parametrize(("load", "word"), [("400000", "yes"), ("400001", "not tested at it")])
def test_the_tested_speed_itself_was_tested(client, drives, load, word):
    assert f"within your limits: {word}" in rows_of(answer_of(client, min_device_tps=load))[0]


def test_own_limits_decide_and_the_links_to_drives_have_them(client, drives):
    text = answer_of(client, min_device_tps="400k", limit_1ms="10")
    assert "2 of 3 models were tested at your load within your limits" in text
    assert "?min_device_tps=400000&amp;limit_1ms=10" in text


def test_without_a_load_the_page_has_the_tested_speeds_alone(client, drives):
    text = answer_of(client)
    assert "tested at your load" not in text.split("Check another list")[0]
    assert "400,000" in rows_of(text)[0]


def test_an_invalid_load_is_named_and_the_list_is_kept(client, drives):
    response = client.post("/check/answer/", {"list": LIST, "min_device_tps": "fast"})
    assert response.status_code == 400
    assert "Load of each drive: expected a" in response.text
    assert "DC EX4,4" in response.text


def test_an_unknown_model_has_no_result(client, drives):
    text = client.post("/check/answer/", {"list": "model\nnobody's drive\n", "min_device_tps": "1k"}).text
    assert "None of 1 model was tested" in text
    assert "no result" in rows_of(text)[0]


def test_the_files_have_the_load_of_each_row(client, drives):
    answer = client.post("/check/answer/", {"list": LIST, "min_device_tps": "400k", "format": "json"}).json()
    rows = [(row["count"], row["load_tps"], row["tested_tps"], row["at_load"]) for row in answer["rows"]]
    assert rows == [
        (4, 400_000, 400_000, "yes"), (1, 400_000, 200_000, "not-tested"), (1, 400_000, 500_000, "no"),
        (1, 400_000, 400_000, "yes"),
    ]  # fmt: skip


def test_without_a_load_no_file_says_that_a_drive_was_tested_at_it(client, drives):
    answer = client.post("/check/answer/", {"list": LIST, "format": "json"}).json()
    assert {row["at_load"] for row in answer["rows"]} == {None}


def test_identical_drives_are_one_row_with_their_devices(client, drives):
    devices = "".join(f"DC EX4,/dev/nvme{number}n1\n" for number in range(5))
    text = client.post("/check/answer/", {"list": f"model,device\n{devices}"}).text
    assert "/dev/nvme0n1, /dev/nvme1n1, /dev/nvme2n1 and 2 more" in text
    assert text.count("5 drives</span>") == 2
