"""The page for a rejected parameter gives back what was typed, with the wrong field marked."""

import pytest

from webapp.register.syndication.public_addresses import public_addresses

pytestmark = pytest.mark.django_db


def test_the_other_parameters_are_kept_and_the_wrong_one_is_marked(client):
    answer = client.get("/drives/nvme-flash/?min_tps=lots&max_1ms=3&q=intel")
    assert answer.status_code == 400
    assert answer.text.count('aria-invalid="true"') == 1
    for kept in ('name="min_tps" value="lots"', 'name="max_1ms" value="3"', 'name="q" value="intel"'):
        assert kept in answer.text, kept


def test_a_parameter_that_a_page_does_not_have_is_left_out(client):
    answer = client.get("/drives/nvme-flash/?colour=red&q=intel")
    assert (answer.status_code, 'name="colour"' in answer.text, 'name="q"' in answer.text) == (400, False, True)


def test_no_page_passes_over_a_parameter_that_it_does_not_have(client, make_log_run, make_published_run):
    make_log_run()
    make_published_run()
    pages = [address.path for address in public_addresses() if address.is_page]
    assert len(pages) > 20
    for path in pages:
        answer = client.get(f"{path}?colour=red")
        assert (answer.status_code, "Unknown parameter colour: " in answer.text) == (400, True), path


def test_what_was_typed_is_text_whatever_it_holds(client):
    answer = client.get("/nines/?reads=%22%3E%3Cscript%3Ealert(1)%3C/script%3E" + "&nines=" + "9" * 10_000)
    assert answer.status_code == 400
    assert "<script>alert" not in answer.text
    assert "9" * 500 not in answer.text


def test_very_many_parameters_do_not_make_a_page_of_fields(client):
    answer = client.get("/nines/?reads=x&" + "&".join(f"a{number}=1" for number in range(500)))
    assert answer.text.count('<div class="field">') <= 60
