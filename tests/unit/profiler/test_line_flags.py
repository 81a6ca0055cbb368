"""The worst lines: what is named, what is not worth a sentence."""

from dataclasses import replace

import pytest

from tinytorch_gpu.profiler.line_flags import worst_lines
from tinytorch_gpu.trace import AccessCounts, LaunchCounts, LineCounts, SourceLine

HERE = SourceLine("lesson", "lesson.py", 3, "out[i] = x[i]")
# 100 requests of 32 lanes × 4 bytes: 4 sectors each is the least.
LOAD = AccessCounts(
    line=HERE,
    array="x",
    space="global",
    kind="load",
    requests=100,
    sectors=400,
    active_lanes=3200,
    bytes_requested=12_800,
    array_bytes=12_800,
    dtype="float32",
    wavefronts=100,
    bytes_used=12_800,
)
MUCH = replace(LOAD, requests=9000, sectors=36_000, bytes_used=1_152_000)
TILE = replace(LOAD, array="tile", space="shared", sectors=0, ideal_wavefronts=100)
ATOMIC = replace(LOAD, array="hist", kind="atomic", serial_passes=100)
BRANCH = LineCounts(HERE, 100, 3200, 100, 0, 0, 0, 0, 0)


def _texts(accesses=(), lines=()):
    return [flag.text for flag in worst_lines(LaunchCounts(accesses, lines, 0))]


def test_a_good_kernel_has_none():
    assert _texts((LOAD, TILE, ATOMIC), (BRANCH,)) == []


@pytest.mark.parametrize(
    ("access", "text"),
    [
        (replace(LOAD, sectors=3200), "load of `x` uses 12.5 % of the bytes"),
        (replace(TILE, wavefronts=3200), "32.0 passes per request, 1.0 would do"),
        (replace(ATOMIC, serial_passes=800), "makes 8.0 lanes of a warp take turns"),
    ],
    ids=["scattered", "conflicts", "contended"],
)
def test_what_is_wrong_is_named_with_its_number(access, text):
    (found,) = _texts((access,))
    assert text in found


def test_a_branch_is_named_with_its_counts():
    (found,) = _texts((), (replace(BRANCH, divergent_branches=50),))
    assert found.startswith("50 of 100 branches diverge")


# A request that moves no more than lanes side by side would is no scattered access:
# one lane alone; or half a warp at one element, half at another, as in a matmul.
@pytest.mark.parametrize(
    ("sectors", "lanes", "used"), [(100, 100, 400), (200, 3200, 800)]
)
def test_few_sectors_are_not_scattered_however_few_of_their_bytes_are_used(
    sectors, lanes, used
):
    few = replace(
        LOAD,
        sectors=sectors,
        active_lanes=lanes,
        bytes_requested=4 * lanes,
        bytes_used=used,
    )
    assert _texts((few,)) == []


# Four float64 elements fill a sector: 8 sectors are the least, not 4.
def test_the_least_depends_on_the_element_size():
    double = replace(LOAD, sectors=800, bytes_requested=25_600, bytes_used=25_600)
    assert _texts((double,)) == []
    assert len(_texts((replace(double, sectors=1600),))) == 1


@pytest.mark.parametrize(
    ("accesses", "lines"),
    [
        ((LOAD, replace(LOAD, requests=10, sectors=50, bytes_used=1280)), ()),
        ((MUCH, replace(LOAD, sectors=3200)), ()),
        ((), (replace(BRANCH, branches=1000), replace(BRANCH, divergent_branches=90))),
    ],
    ids=["little excess", "small part of the sectors", "few of the branches"],
)
def test_what_is_small_is_not_named(accesses, lines):
    assert _texts(accesses, lines) == []


def test_the_worst_come_first_and_at_most_three():
    scattered = [
        replace(LOAD, array=name, sectors=sectors)
        for name, sectors in zip("abcd", (3000, 3200, 2900, 3100), strict=True)
    ]
    flags = worst_lines(LaunchCounts(tuple(scattered), (), 0))
    assert [flag.accesses[0].array for flag in flags] == ["b", "d", "a"]


def test_a_line_is_named_once_for_each_array():
    both = (replace(TILE, wavefronts=300), replace(TILE, kind="store", wavefronts=400))
    (found,) = worst_lines(LaunchCounts(both, (), 0))
    assert "the store of `tile` takes 4.0 passes" in found.text
    assert found.accesses == both[::-1]
