"""Marks of drives: one size for each class of capacity, one shape for each class of endurance, each defined once."""

import re

import pytest

from webapp.register.svg.marks import over_limit, radius_of, symbol_of, symbol_paths, symbols_svg


@pytest.mark.parametrize(
    ("capacity_gb", "size"), [(None, 0), (2000, 0), (2001, 1), (4000, 1), (4001, 2), (8000, 2), (8001, 3)]
)
def test_the_size_of_a_mark_grows_with_the_classes_of_capacity(capacity_gb, size):
    assert symbol_of(1, capacity_gb) == f"c{size}"


@pytest.mark.parametrize(("dwpd", "shape"), [(None, "x"), (1.99, "c"), (2, "s"), (4.99, "s"), (5, "d")])
def test_the_shape_of_a_mark_shows_the_class_of_endurance(dwpd, shape):
    assert symbol_of(dwpd, None) == f"{shape}0"


def test_every_symbol_that_a_mark_can_have_is_defined_once():
    defined = re.findall(r'id="([csdx]\do?)"', symbols_svg())
    symbols = {symbol_of(dwpd, capacity) for dwpd in (None, 1, 3, 5) for capacity in (1, 3000, 5000, 9000)}
    assert sorted(defined) == sorted(symbols | {over_limit(symbol) for symbol in symbols})


def test_a_symbol_over_the_limit_has_the_outline_of_its_drive_and_a_line_below():
    outlines = dict(symbol_paths())
    for symbol, outline in outlines.items():
        if not symbol.endswith("o"):
            added = outlines[over_limit(symbol)].removeprefix(outline)
            place, lowest = re.fullmatch(r"M-[\d.]+ ([\d.]+)h[\d.]+", added)[1], radius_of(symbol) * 1.3
            assert radius_of(symbol) * 0.89 < float(place) < lowest + 3.1
