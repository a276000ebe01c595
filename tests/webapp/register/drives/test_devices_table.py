"""The table Speed by number of devices, which follows the filters and limits of the page."""

import re

import pytest

pytestmark = pytest.mark.django_db


def read_devices(client, query=""):
    """Return the names of instances in the table, and the cells of its lines."""
    table = client.get(f"/drives/cloud/{query}").text.split("data-devices")[1].split("</table>")[0]
    text = table.split("</thead>")[1]
    lines = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", line) for line in re.findall(r"<tr>.*?</tr>", text)]
    return re.findall(r"<b>([^<]*GB devices)</b>", text), [
        [re.sub("<[^>]*>", "", cell) for cell in line] for line in lines
    ]


def test_without_filters_all_types_with_several_numbers_are_listed(client, catalogue):
    names, _ = read_devices(client)
    assert {name.split()[0] for name in names} == {"AWS", "GCP"}


def test_only_matching_results_are_listed(client, catalogue):
    names, lines = read_devices(client, "?provider=aws")
    assert {name.split()[0] for name in names} == {"AWS"}
    assert all(tps != "6,408,000" for _, _, tps, *_ in lines)
    assert [line[0] for line in read_devices(client, "?q=n2-standard-80&devices=2~24")[1]] == ["2", "24"]


def test_the_fewest_matching_devices_are_the_reference(client, catalogue):
    _, lines = read_devices(client, "?q=n2-standard-80&devices=4~24")
    assert lines == [
        ["4", "sole tenant", "1,308,000", "327,000", "100 %"],
        ["4", "shared", "1,068,000", "267,000", "81.7 % compared with sole tenant"],
        ["24", "sole tenant", "6,408,000", "267,000", "81.7 %"],
    ]


def test_the_limits_of_the_reader_apply(client, catalogue):
    assert [line[0] for line in read_devices(client, "?q=m5d.24xlarge&limit_1ms=13")[1]] == ["1", "2", "4"]
    assert [line[0] for line in read_devices(client, "?q=m5d.24xlarge&limit_1ms=6")[1]] == ["2", "4"]


def test_a_filter_that_leaves_one_number_of_devices_is_stated(client, catalogue):
    names, lines = read_devices(client, "?devices=1")
    assert (names, lines) == ([], [["No instance type has matching results with several numbers of devices."]])


def test_other_pages_have_no_such_table(client, catalogue):
    assert "data-devices" not in client.get("/drives/nvme-flash/").text
