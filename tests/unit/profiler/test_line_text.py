"""What the text of a line tells: equal elements, and quotients that are added."""

from __future__ import annotations

import pytest

from tinytorch_gpu.profiler.line_text import loads_of_an_element, sums_of_a_quotient


@pytest.mark.parametrize(
    ("text", "loads"),
    [
        ("y[i] = p[i, 0] * p[i, 0]", 2),
        ("y[i] = p[i, 0] * p[i, 1]", 1),
        ("p[i] = p[i] + p[i] * p[i + 1]", 1.5),
        ("if p[i] > p[i]:", 2),
        ("total += q[i]", 1),
        ("for (", 1),
    ],
)
def test_loads_of_an_element(text, loads):
    assert loads_of_an_element(text, "p") == loads


@pytest.mark.parametrize(
    ("text", "share"),
    [
        ("v = v / z + c", 1),
        ("v -= a / z", 1),
        ("v = c - a / z", 1),
        ("v = v / z", 0),
        ("v = a / z + b / z", 0.5),
        ("v = a * b + c / z", 0),  # one sum, which its product has already
        ("k = k // 2 + 1", 0),
        ("while (", 0),
    ],
)
def test_sums_of_a_quotient(text, share):
    assert sums_of_a_quotient(text) == share
