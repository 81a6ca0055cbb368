"""Numbers are written with three significant digits and a unit, and read back."""

import pytest

from tinytorch_gpu.units import (
    format_bytes,
    format_count,
    format_ns,
    format_share,
    format_short,
    parse_bytes,
)


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (1, "1 B"),
        (999, "999 B"),
        (1000, "1.00 kB"),
        (1024, "1.02 kB"),
        (16_384, "16.4 kB"),
        (123_456, "123 kB"),
        (2.5e6, "2.50 MB"),
        (16e9, "16.0 GB"),
        (-2000, "-2.00 kB"),
    ],
)
def test_bytes_are_written(count, text):
    assert format_bytes(count) == text


@pytest.mark.parametrize(
    ("duration", "text"),
    [
        (0, "0 ns"),
        (2.5, "2.50 ns"),
        (999, "999 ns"),
        (2500, "2.50 µs"),
        (1e6, "1.00 ms"),
        (3.2e9, "3.20 s"),
        (120e9, "120 s"),
    ],
)
def test_durations_are_written(duration, text):
    assert format_ns(duration) == text


@pytest.mark.parametrize(
    ("value", "text"), [(999.6, "1.00 µs"), (999_999.9, "1.00 ms"), (9.996, "10.0 ns")]
)
def test_rounding_up_moves_to_the_next_unit_or_digit(value, text):
    assert format_ns(value) == text


def test_counts_are_grouped():
    assert [format_count(n) for n in (0, 999, 18_450, 1e6)] == [
        "0",
        "999",
        "18,450",
        "1,000,000",
    ]


def test_short_counts_take_five_characters():
    counts = (0, 9999, 10_000, 99_960, 1_234_567, 2.5e9)
    texts = ["0", "9,999", "10.0k", "100k", "1.23M", "2.50G"]
    assert [format_short(count) for count in counts] == texts


def test_shares_are_percent_and_a_whole_of_0_gives_0():
    assert format_share(1, 8) == "12.5 %"
    assert format_share(3, 0) == "0.0 %"


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("4096", 4096),
        ("4096 B", 4096),
        ("48 KiB", 49_152),
        ("48KiB", 49_152),
        ("1.5 MB", 1_500_000),
        ("16 GB", 16 * 10**9),
        ("1 GiB", 2**30),
        (" 2 kB ", 2000),
        (".5 K", 500),
    ],
)
def test_bytes_are_read(text, count):
    assert parse_bytes(text) == count


@pytest.mark.parametrize("text", ["", "many", "4 XB", "-4 B", "4 GB GB", "1e3"])
def test_what_is_no_number_of_bytes_is_refused(text):
    with pytest.raises(ValueError, match="write for example"):
        parse_bytes(text)
