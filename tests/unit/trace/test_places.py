"""Numbers of blocks and threads, and how an element is written."""

import pytest

from tinytorch_gpu.errors import TraceQueryError
from tinytorch_gpu.trace.places import coordinates, linear, padded_threads, spelled


def test_coordinates_and_numbers_are_each_others_inverse():
    lengths = (2, 3, 4)
    places = [(x, y, z) for z in range(4) for y in range(3) for x in range(2)]
    assert [coordinates(n, lengths) for n in range(24)] == places
    assert [linear("block", p, lengths, "k") for p in places] == list(range(24))
    assert linear("block", 23, lengths, "k") == 23
    assert linear("block", (1, 2), lengths, "k") == 5


@pytest.mark.parametrize("place", [24, -1, (2, 0, 0), (0, 0, 0, 0), "a", (0, 0.5), 1.5])
def test_places_that_there_are_not(place):
    with pytest.raises(TraceQueryError, match="the launch has no thread") as caught:
        linear("thread", place, (2, 3, 4), "k (k.py:1)")
    assert "it has 24: 2 x 3 x 4" in caught.value.why


@pytest.mark.parametrize(
    ("block", "padded"), [((1, 1, 1), 32), ((32, 1, 1), 32), ((11, 3, 1), 64)]
)
def test_whole_warps(block, padded):
    assert padded_threads(block) == padded


def test_elements():
    assert spelled("x", (3,)) == "x[3]"
    assert spelled("tile", (1, 2)) == "tile[1, 2]"
