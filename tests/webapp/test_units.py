"""Numbers in the format that pages show."""

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import pytest

from webapp.templatetags import units

NBSP = "\N{NO-BREAK SPACE}"


@pytest.mark.parametrize(
    ("number", "text"),
    [
        ("1728000.00", "1,728,000"),
        ("999.5", "999.5"),
        ("1.30", "1.3"),
        ("100", "100"),
        ("0.00", "0"),
        ("1E+3", "1,000"),
    ],
)
def test_decimals_lose_only_redundant_zeros(number, text):
    assert units.decimal(Decimal(number)) == text


@pytest.mark.parametrize(
    "format_number", [units.decimal, units.count, units.capacity, units.size, units.duration, units.nx, units.moment]
)
def test_a_missing_value_has_no_text(format_number):
    assert format_number(None) == ""


@pytest.mark.parametrize(
    ("printed", "places", "blanks"),
    [("0.56", 3, "\u2007"), ("0.005", 3, ""), ("0.0", 2, "\u2007"), ("4", 2, "\u2008\u2007\u2007"), ("4", 0, "")],
)
def test_shorter_fractions_are_padded_with_figure_spaces(printed, places, blanks):
    assert units.padding(printed, places) == blanks


@pytest.mark.parametrize(
    ("printed", "over_count", "text"),
    [
        ("0.00", 1, "<0.01"),
        ("0.000", 2, "<0.001"),
        ("0.00", 0, "0.00"),
        ("0.00", None, "0.00"),
        ("0.01", 48, "0.01"),
        ("100.00", 9, "100.00"),
    ],
)
def test_a_share_above_zero_is_not_shown_as_zero(printed, over_count, text):
    assert units.share(printed, over_count) == text


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("0.33 % > 0.1 %", "0.33_% > 0.1_%"),
        ("over 1 ms in 24 slices of 3600 s", "over 1_ms in 24 slices of 3600_s"),
        ("at 480,000 tps, 6.4 TB", "at 480,000_tps, 6.4_TB"),
        ("2 sole tenants, 3 ms-like", "2 sole tenants, 3 ms-like"),
    ],
)
def test_numbers_are_not_separated_from_their_units(sentence, expected):
    assert units.unbroken(sentence).replace(NBSP, "_") == expected


@pytest.mark.parametrize(
    ("gigabytes", "text"), [(480, "480 GB"), (999, "999 GB"), (1000, "1 TB"), (6400, "6.4 TB"), (15360, "15.36 TB")]
)
def test_capacities_have_the_form_that_makers_print(gigabytes, text):
    assert units.capacity(gigabytes) == text.replace(" ", NBSP)


@pytest.mark.parametrize(
    ("bytes_count", "text"),
    [(0, "0 bytes"), (1, "1 byte"), (999, "999 bytes"), (1000, "1 kB"), (55_210_000, "55.2 MB"), (536870912, "537 MB")],
)
def test_sizes_have_three_digits(bytes_count, text):
    assert units.size(bytes_count) == text.replace(" ", NBSP)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (59, "59 s"), (60, "1 min"), (61, "61 s"), (3600, "1 h"), (5400, "1 h 30 min"), (86400, "24 h")],
)
def test_durations_have_the_units_that_divide_them(seconds, text):
    assert units.duration(seconds).replace(NBSP, " ") == text


@pytest.mark.parametrize(
    ("microseconds", "text"), [(256, "256 us"), (999, "999 us"), (1000, "1 ms"), (1024, "1,024 us"), (64000, "64 ms")]
)
def test_thresholds_have_whole_units(microseconds, text):
    assert units.threshold(microseconds) == text.replace(" ", NBSP)


@pytest.mark.parametrize(("load", "text"), [("175.0000", "175x"), ("466.6667", "466.67x"), ("0.5000", "0.5x")])
def test_loads_have_at_most_two_decimals(load, text):
    assert units.nx(Decimal(load)) == text


def test_moments_are_shown_in_utc_for_any_time_zone():
    at = datetime(2026, 11, 20, 9, 12, tzinfo=UTC).astimezone(timezone(timedelta(hours=5)))
    assert units.moment(at) == "20 November 2026, 09:12 UTC"


@pytest.mark.parametrize(
    ("start_s", "end_s", "text"), [(0, 3600, "0-1 h"), (7200, 10800, "2-3 h"), (10, 20, "10-20 s"), (0, 10, "0-10 s")]
)
def test_slices_are_named_in_hours_if_they_are_whole_hours(start_s, end_s, text):
    assert units.span(start_s, end_s) == text.replace(" ", NBSP)


@pytest.mark.parametrize(
    ("count", "gigabytes", "text"), [(4, 900, "4 x 900 GB"), (1, 2500, "1 x 2,500 GB"), (None, 9, "")]
)
def test_storage_is_shown_as_devices_of_a_size(count, gigabytes, text):
    assert units.storage(count, gigabytes) == text.replace(" ", NBSP)


def test_rates_have_one_decimal_as_in_the_table_of_act():
    assert (units.rate(Decimal("600.15")), units.rate(Decimal(2000)), units.rate(None)) == ("600.2", "2,000.0", "")
