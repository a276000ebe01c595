"""Tracking parameters, which are ignored on all pages; other unknown parameters are named."""

import pytest

from webapp.middleware import is_mark, without_marks

MARKS = "utm_source=mail&utm_medium=a%20b&fbclid=x&gclid=y&msclkid=z"


@pytest.mark.parametrize("name", ["utm_source", "UTM_Campaign", "fbclid", "gclid", "msclkid", "mc_eid", "_ga"])
def test_a_tracking_parameter_is_recognised_by_its_name(name):
    assert is_mark(name)


@pytest.mark.parametrize("name", ["utm", "utmsource", "clid", "fbclid2", "sort", "q", "", "ref"])
def test_a_parameter_with_a_similar_name_is_not_a_tracking_parameter(name):
    assert not is_mark(name)


def test_the_rest_of_a_query_is_unchanged():
    assert without_marks("q=a%2Cb+c&utm_source=x&sort=-tps") == "q=a%2Cb+c&sort=-tps"
    assert without_marks("&a&&b=%zz") == "&a&&b=%zz"
    assert without_marks("%75tm_source=x&q=utm_source") == "q=utm_source"


@pytest.mark.django_db
@pytest.mark.parametrize(
    "path", ["/", "/drives/nvme-flash/", "/compare/", "/sizing/", "/explain/", "/search/", "/data/"]
)
def test_a_link_with_tracking_parameters_is_answered_as_without(client, path):
    plain, marked = client.get(path), client.get(f"{path}?{MARKS}")
    assert (marked.status_code, marked["ETag"]) == (200, plain["ETag"])


@pytest.mark.django_db
@pytest.mark.parametrize("path", ["/drives/nvme-flash/", "/compare/", "/sizing/", "/explain/"])
def test_another_unknown_parameter_is_still_named_with_tracking_parameters(client, path):
    answer = client.get(f"{path}?{MARKS}&colour=red")
    assert (answer.status_code, "Unknown parameter “colour”" in answer.text, "utm_" in answer.text) == (
        400,
        True,
        False,
    )


@pytest.mark.django_db
def test_the_api_accepts_tracking_parameters_and_names_others(client):
    assert client.get(f"/api/v1/certificates/?{MARKS}").status_code == 200
    assert client.get(f"/api/v1/certificates/?{MARKS}&colour=red").status_code == 400
