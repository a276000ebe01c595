"""The charts of lists: the plotted speed, the names of frontiers, and accessible names that differ."""

import re
from collections import Counter
from html import unescape

import pytest

pytestmark = pytest.mark.django_db
SERVICE = "fastest of ACT 6.x: time in the drive"
WITH_QUEUE = "fastest of ACT up to 5.3: time in the drive and in the queue"


def main_of(client, address):
    return unescape(client.get(address).text).partition("<main")[2].replace("\N{NO-BREAK SPACE}", " ")


def marks_of(text):
    """Return the names of the marks of the charts."""
    return re.findall(r'<a class="m [^>]*aria-label="([^"]*)"', text)


@pytest.mark.parametrize(
    ("query", "unit", "speed"),
    [
        ("", "whole instance", "354,000 tps;"),
        ("?sort=device_tps", "device of an instance", "177,000 tps per device;"),
        ("?sort=-device_tps", "device of an instance", "177,000 tps per device;"),
        ("?sort=-storage", "whole instance", "354,000 tps;"),
    ],
)
def test_the_chart_of_instances_plots_the_speed_that_the_list_ranks(client, catalogue, query, unit, speed):
    text = main_of(client, f"/drives/cloud/{query}")
    (two_devices,) = [each for each in marks_of(text) if each.startswith("AWS r5d.4xlarge (2 x")]
    assert speed in two_devices
    assert f'">{unit}</span>, <span data-statistic>' in text
    assert ("speed of one device, and share" in text) is ("device" in query)


def test_a_load_of_one_device_is_in_the_chart_that_plots_devices(client, catalogue):
    text = main_of(client, "/drives/cloud/?min_device_tps=267001&sort=-device_tps")
    assert "267,001 tps: 1 result" in text
    assert "zonetext" not in main_of(client, "/drives/cloud/?min_tps=300000&sort=-device_tps")


def test_the_chart_of_drives_is_the_same_in_each_order(client, catalogue):
    assert marks_of(main_of(client, "/drives/nvme-flash/?sort=-endurance_dwpd")) == marks_of(
        main_of(client, "/drives/nvme-flash/")
    )


def test_key_and_description_name_the_frontier_of_each_group(client, catalogue):
    text = main_of(client, "/drives/nvme-flash/")
    description = re.findall(r"<desc[^>]*>(.*?)</desc>", text)[0]
    assert f"Solid line: {SERVICE}. Dashed line: {WITH_QUEUE}." in description
    key = text.partition("data-frontiers>")[2].partition('<span class="only-phone">')[0]
    short = ["fastest of ACT 6.x<", "fastest of ACT up to 5.3<"]
    assert [short[0] in key, short[1] in key, key.count("<svg")] == [True, True, 2]
    one = main_of(client, "/drives/nvme-flash/?act=6").partition("data-frontiers>")[2].partition("</span> <span")[0]
    assert [short[0] in one, short[1] in one] == [True, False]


def test_frontiers_of_results_with_several_numbers_of_devices_name_theirs(client, catalogue):
    assert f"Solid line: {SERVICE}, 1 device." in main_of(client, "/drives/")


def test_no_line_is_drawn_for_a_group_that_a_result_of_another_number_of_devices_beats(client, catalogue):
    """Instances with more devices are faster, with as few slow reads: none is beyond a line of the fastest."""
    text = main_of(client, "/drives/cloud/")
    assert "Solid line: " not in text
    assert 'class="front solid"' not in text
    assert 'class="front solid"' in main_of(client, "/drives/cloud/?devices=1")


@pytest.mark.parametrize(("query", "unit"), [("", "drive or device"), ("?sort=-tps", "drive or instance")])
def test_the_chart_of_all_categories_plots_the_speed_that_the_list_ranks(client, catalogue, query, unit):
    text = main_of(client, f"/drives/{query}")
    assert f'">{unit}</span>, <span data-statistic>' in text
    (two_devices,) = [each for each in marks_of(text) if each.startswith("AWS r5d.4xlarge (2 x")]
    assert ("177,000 tps per device;" in two_devices) is ("device" in unit)


def test_a_phone_always_shows_the_speed_that_all_categories_are_ranked_by(client, catalogue):
    """It shows columns without a group, and one group by choice."""
    text = main_of(client, "/drives/")
    tags = {code: re.search(rf'<th [^>]*data-column="{code}"[^>]*>', text)[0] for code in ("tps", "device_tps")}
    assert ["g-device" in tags["tps"], "g-" in tags["device_tps"]] == [True, False]
    assert '<td class="n"><b>2,010,000</b>' in text
    assert '<td class="n g-device">2,010,000</td>' in text


@pytest.mark.parametrize("address", ["/", "/drives/nvme-flash/", "/drives/"])
def test_no_two_marks_and_no_two_charts_of_a_page_have_the_same_name(client, catalogue, address):
    text = main_of(client, address)
    titles = re.findall(r"<title id=[^>]*>([^<]*)</title>", text)
    assert [title.partition(":")[0] for title in titles] == ["Speed and slow reads", "Speed and endurance"]
    names = Counter(marks_of(text))
    assert len(names) > 20
    assert max(names.values()) == 1
