import re

from results.models.public_ids import ALPHABET, new_link_key, new_run_id


def test_an_id_has_its_prefix_and_eight_letters():
    assert re.fullmatch(rf"r-[{ALPHABET}]{{8}}", new_run_id())


def test_letters_that_are_misread_are_left_out():
    assert not set("0oO1iIlLuU") & set(ALPHABET)


def test_link_keys_differ():
    assert len({new_link_key() for _ in range(100)}) == 100
