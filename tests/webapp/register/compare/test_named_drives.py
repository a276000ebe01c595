"""Comparison of drives by the names that the site uses; an unknown name returns the form."""

import re

import pytest

from webapp.register.compare.query import MOST, NAME_CHARS

pytestmark = pytest.mark.django_db
MICRON, SANDISK = "micron-9400-max-12800gb", "sandisk-dc-sn861-6400gb"


def get(client, *names):
    return client.get("/compare/", {"drive": names})


@pytest.mark.parametrize("name", ["Micron 9400 Max 12.8 TB", "micron 9400 max 12.8\N{NO-BREAK SPACE}tb", "9400 12.8"])
def test_a_title_or_the_words_of_one_drive_redirect_to_its_permanent_address(client, catalogue, name):
    answer = get(client, name, SANDISK)
    assert (answer.status_code, answer["Location"]) == (302, f"?drive={MICRON}&drive={SANDISK}")


def test_a_part_number_names_its_drive(client, make_product, make_published_run):
    drives = [make_product(part_number="AB-12X"), make_product(part_number="AB-12XL")]
    for drive in drives:
        make_published_run(product=drive)
    answer = get(client, "ab-12x", drives[1].slug)
    assert answer["Location"] == f"?drive={drives[0].slug}&drive={drives[1].slug}"


def chosen(answer):
    """Return the notes on chosen drives as a reader sees them."""
    notes = re.findall(r'<p class="callout" role="note">([0-9]+ drives? match .*?)</p>', answer.text)
    return [re.sub("<[^>]+>", "", note).replace("\N{NO-BREAK SPACE}", " ") for note in notes]


def test_a_name_of_several_drives_is_compared_with_the_nearest_capacity(client, catalogue):
    answer = get(client, "micron 9300", SANDISK)
    assert answer.status_code == 200
    assert "<h1><bdi>Micron 9300 Max 6.4\N{NO-BREAK SPACE}TB and SanDisk DC SN861 6.4" in answer.text
    assert chosen(answer) == [
        "2 drives match micron 9300. This page compares Micron 9300 Max 6.4 TB, whose capacity is nearest to that of "
        "the other drives. Compare instead: Micron 9300 Max 3.2 TB."
    ]
    assert f'<a href="?drive=micron-9300-max-3200gb&amp;drive={SANDISK}"><bdi>Micron 9300' in answer.text
    assert answer.text.index('<p class="verdict">') < answer.text.index("2 drives match")
    assert 'href="?drive=micron-9300-max-6400gb&amp;drive=sandisk-dc-sn861-6400gb&amp;format=csv"' in answer.text


def test_two_names_of_several_drives_are_compared_at_once_from_the_fastest(client, catalogue):
    first, second = chosen(get(client, "sn861", "micron 9300"))
    assert "This page compares SanDisk DC SN861 6.4 TB, which has the fastest result of them." in first
    assert "This page compares Micron 9300 Max 6.4 TB, whose capacity is nearest" in second


def test_three_drives_are_named_in_order_with_the_fewest_slow_reads(client, catalogue):
    answer = get(client, SANDISK, MICRON, "smart-iops-dataengine-12800gb")
    verdict = re.sub("<[^>]+>", "", re.search('<p class="verdict">(.*?)</p>', answer.text)[1])
    assert verdict.replace("\N{NO-BREAK SPACE}", " ").startswith(
        "SanDisk DC SN861 6.4 TB is the fastest of 3: 1,728,000 tps, before Smart IOPS DataEngine 12.8 TB (1,080,000) "
        "and Micron 9400 Max 12.8 TB (750,000). It also has the fewest slow reads: 0.56 % over 1 ms."
    )


def test_two_makers_are_compared_by_drives_of_one_category_and_comparison_group(client, catalogue):
    answer = get(client, "micron", "samsung")
    micron, samsung = chosen(answer)
    assert "This page compares Micron 9300 Max" in micron  # an X100 is faster, but of 3D XPoint
    assert "This page compares Samsung PM983" in samsung
    assert "not comparable" not in re.search('<p class="verdict">(.*?)</p>', answer.text)[1]


def test_a_drive_that_another_field_names_is_not_chosen(client, catalogue):
    (note,) = chosen(get(client, "micron 9300", "micron-9300-max-6400gb"))
    assert "This page compares Micron 9300 Max 3.2 TB" in note
    assert "instead" not in note


def test_many_other_drives_of_a_name_are_counted_and_linked(client, catalogue):
    answer = get(client, "Micron", SANDISK)
    assert answer.status_code == 200
    assert re.search(r"Compare instead: (Micron [^,]+, ){6}or [0-9]+ more\.", chosen(answer)[0])
    assert '<a href="/search/?q=Micron">' in answer.text


def test_a_file_of_a_name_of_several_drives_is_at_the_address_of_the_chosen_drive(client, catalogue):
    answer = client.get("/compare/", {"drive": ["micron 9300", SANDISK], "format": "json"})
    assert answer["Location"] == f"?drive=micron-9300-max-6400gb&drive={SANDISK}&format=json"


def test_only_a_name_without_a_match_asks_and_the_other_fields_have_names(client, catalogue):
    answer = get(client, "Nobody's drive", "none of these", SANDISK, "micron 9300")
    assert answer.status_code == 404
    assert 'value="SanDisk DC SN861 6.4\N{NO-BREAK SPACE}TB"' in answer.text
    assert "<b>2 names need a correction:</b> see the marked fields below." in answer.text
    assert 'value="Micron 9300 Max 6.4\N{NO-BREAK SPACE}TB"' in answer.text
    one = get(client, "Nobody's drive", SANDISK)
    assert "<b>1 name needs a correction:</b> see the marked field below." in one.text


def test_one_invalid_name_is_not_reported_as_one_selected_drive(client, catalogue):
    answer = get(client, "Nobody's drive <b>")
    assert answer.status_code == 404
    assert "One is chosen" not in answer.text
    assert "No drive has this name" in answer.text
    assert "drive <b>" not in answer.text


def test_a_typing_error_needs_confirmation(client, catalogue):
    answer = get(client, "sandisk dc sn862 6.4 tb", MICRON)
    assert answer.status_code == 404
    assert (
        f'<a href="?drive={SANDISK}&amp;drive={MICRON}"><bdi>SanDisk DC SN861 6.4\N{NO-BREAK SPACE}TB</bdi></a>'
        in answer.text
    )


@pytest.mark.parametrize(("typed", "offered"), [("P5520", "Intel P5510"), ("PM9A3", "Samsung PM983")])
def test_the_nearest_names_of_another_model_are_offered(client, catalogue, typed, offered):
    answer = get(client, typed, MICRON)
    assert (answer.status_code, f"<bdi>{offered} " in answer.text) == (404, True)


def test_an_offered_drive_leads_to_the_comparison_with_the_limits_of_the_reader(client, catalogue):
    answer = client.get("/compare/", {"drive": ["sandisk dc sn862 6.4 tb", MICRON], "limit_1ms": "3"})
    assert f'<a href="?drive={SANDISK}&amp;drive={MICRON}&amp;limit_1ms=3"><bdi>SanDisk' in answer.text
    assert client.get(f"/compare/?drive={SANDISK}&drive={MICRON}&limit_1ms=3").status_code == 200


def test_a_drive_that_is_already_selected_is_not_offered(client, catalogue):
    answer = get(client, "sandisk dc sn862 6.4 tb", SANDISK)
    assert answer.status_code == 404
    assert f"?drive={SANDISK}&amp;drive={SANDISK}" not in answer.text


def test_an_offer_keeps_the_other_names_as_they_were_typed(client, catalogue):
    answer = get(client, "sandisk dc sn862 6.4 tb", "Nobody's <drive>")
    assert f'<a href="?drive={SANDISK}&amp;drive=Nobody%27s+%3Cdrive%3E"><bdi>SanDisk' in answer.text


def test_two_names_of_one_drive_are_reported(client, catalogue):
    answer = get(client, MICRON, "Micron 9400 Max 12.8 TB")
    assert (answer.status_code, "already selected above" in answer.text) == (400, True)


def test_the_format_is_kept_with_the_name(client, catalogue):
    answer = client.get("/compare/", {"drive": ["Micron 9400 Max 12.8 TB", SANDISK], "format": "json"})
    assert answer["Location"].endswith("&format=json")


def test_published_figures_with_and_without_queue_time_are_not_compared(client, catalogue):
    answer = client.get("/compare/", {"drive": ["micron-9300-max-3200gb", SANDISK], "format": "json"}).json()
    assert [row["name"] for row in answer["differing"]] == ["time"]
    version = next(row for row in answer["rows"] if row["row"] == "tool_version")
    assert (version["values"], version["differs"]) == (["5.2", "6.4"], True)


def test_an_instance_with_four_devices_is_not_compared_with_one_drive(client, make_product, make_published_run):
    cloud, drive = make_product(category="cloud"), make_product()
    make_published_run(product=cloud, device_count=4)
    make_published_run(product=drive)
    answer = client.get("/compare/", {"drive": [cloud.slug, drive.slug], "format": "json"}).json()
    [differing] = answer["differing"]
    assert (differing["name"], differing["values"]) == ("device_count", ["4", "1 (one drive assumed: not reported)"])


def test_no_drive_is_assumed_for_an_instance(client, make_product, make_published_run):
    runs = [make_published_run(product=make_product(category="cloud")) for _ in range(2)]
    answer = client.get("/compare/", {"run": [run.public_id for run in runs], "format": "json"}).json()
    assert "Devices" in answer["unknown"]


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["x"] * (MOST + 1), f"Drive: expected at most {MOST}, got {MOST + 1}"),
        (["x" * (NAME_CHARS + 1)], f"Drive: expected a name of at most {NAME_CHARS} characters, got {NAME_CHARS + 1}"),
        (["x " * 25], "Drive: expected a name of at most 24 words, got 25"),
    ],
)
def test_too_many_or_too_long_names_are_refused_before_the_search(client, catalogue, names, said):
    answer = get(client, *names)
    assert (answer.status_code, said in answer.text) == (400, True)


def test_the_drives_most_similar_to_an_unknown_name_are_offered(client, make_product, make_published_run):
    drives = [make_product(slug=f"exemplar-ex{number:03d}-960gb", model=f"EX{number:03d}") for number in range(20)]
    for drive in drives:
        make_published_run(product=drive)
    answer = get(client, "exemplarr exx007 960gb zz", drives[0].slug)
    assert answer.status_code == 404
    assert "exemplar-ex007-960gb" in answer.text


@pytest.mark.parametrize("others", [0, 1])
def test_an_unknown_run_is_named_with_a_search(client, make_published_run, others):
    known = [make_published_run().public_id for _ in range(others)]
    answer = client.get("/compare/", {"run": [*known, "r-nothere"]})
    assert answer.status_code == 404
    assert "No run is named r-nothere." in answer.text
    assert 'value="r nothere"' in answer.text


def test_a_run_that_is_not_public_is_not_found(client, make_log_run):
    assert client.get("/compare/", {"run": make_log_run(visibility="unreviewed").public_id}).status_code == 404


def test_a_single_selected_run_starts_a_selection(client, make_published_run):
    run = make_published_run()
    answer = client.get("/compare/", {"run": run.public_id})
    assert (answer.status_code, f'value="Exemplar {run.product.model} 3.2' in answer.text) == (200, True)


def partners(answer):
    """Return the addresses of the comparisons that a page with one drive offers."""
    note = answer.text.split("<b>One drive is selected.</b>")[1].split("</p>")[0]
    return [address.replace("&amp;", "&") for address in re.findall(r'<a href="([^"]+)">', note)]


def test_one_drive_is_offered_the_nearest_comparable_drives_of_other_models(client, catalogue):
    offered = partners(get(client, SANDISK))
    assert len(set(offered)) == 4
    assert all(address.startswith(f"?drive={SANDISK}&drive=") for address in offered)
    assert not any("drive=sandisk-dc-sn861-7680gb" in address for address in offered)
    for address in offered:
        assert "not comparable" not in client.get(f"/compare/{address}").text.split('<p class="verdict">')[1][:600]
    assert partners(get(client, "DC SN861 6.4"))[0] == offered[0]


def test_a_drive_without_a_comparable_one_is_alone(client, make_product, make_published_run):
    make_published_run(product=make_product(model="EX1"))
    answer = get(client, "EX1")
    assert "A comparison needs at least two drives.</p>" in answer.text
