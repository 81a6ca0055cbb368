"""What one access costs, in the words of its space."""

from dataclasses import replace

import pytest

from tinytorch_gpu.profiler.line_cells import access_effect, access_price


@pytest.fixture
def load(counts):
    """10 requests, 40 sectors, all of their bytes used."""
    return replace(counts().accesses[0], bytes_used=1280)


def test_price_is_that_of_one_request(load):
    assert access_price(load) == "4.0 sectors"
    assert access_price(replace(load, space="shared", wavefronts=15)) == "1.5 passes"
    assert access_price(replace(load, space="local")) == "local"


def test_an_access_that_no_lane_made_has_a_price_of_0(load):
    assert access_price(replace(load, requests=0, sectors=0)) == "0.0 sectors"


def test_the_effect_adds_equal_accesses_up_but_not_the_hottest_address(load):
    assert access_effect(load, 2) == "80 sectors, 2.56 kB/2.56 kB"
    tile = replace(load, space="shared", wavefronts=15, ideal_wavefronts=10)
    assert access_effect(tile, 2) == "10 bank conflicts"
    atomic = replace(load, kind="atomic", serial_passes=50, hottest_address=300)
    assert access_effect(atomic, 2) == "100 turns, most at one: 300"
