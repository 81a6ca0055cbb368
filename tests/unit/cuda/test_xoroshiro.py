"""The generator equals one written with Python's integers, and numba's own states."""

import itertools

import numpy as np
import pytest

from tinytorch_gpu.cuda.xoroshiro import first_states, jump, step

WORD = 2**64
# Read from numba-cuda 0.30.4: init_xoroshiro128p_states_cpu(states, seed, start) of
# numba.cuda.random on an empty array of n records, then each record's s0 and s1.
NUMBAS = {
    (4, 1, 0): [
        (0x910A2DEC89025CC1, 0x910A2DEC89025CC1),
        (0x73C19A5348FC9098, 0x6C96C932F21D71EE),
        (0x0B3D0CD6DDFA7A4C, 0xD3C2C33E9B8E707A),
        (0x3B80C389FCD31EE7, 0xB43C70624D182BBB),
    ],
    (3, -5, 2): [
        (0xE35D2A120AFF76D1, 0xD21F0A11E73FE81D),
        (0x055EE5E06D008FF4, 0xC04B7EABC02CF728),
        (0x1D055EC2F938D311, 0xAE4058DDE91F5EA4),
    ],
    (1, 0, 7): [(0xA0C44F2FFE6A213B, 0xAE4ADE52D89D3BE8)],
}


@pytest.fixture(autouse=True)
def quiet():
    """As the engine runs lane programs: words wrap."""
    with np.errstate(all="ignore"):
        yield


def plain_step(s0, s1):
    """One step, in Python's integers."""
    turn = lambda word, by: (word << by | word >> (64 - by)) % WORD  # noqa: E731
    s1 ^= s0
    return turn(s0, 55) ^ s1 ^ (s1 << 14) % WORD, turn(s1, 36)


def plain_jump(s0, s1):
    """2**64 steps: the sum of the states after those steps that the polynomial names."""
    polynomial = 0xD86B048B86AA9922 << 64 | 0xBEAC0467EBA5FACB
    sum0 = sum1 = 0
    for power in range(128):
        if polynomial >> power & 1:
            sum0, sum1 = sum0 ^ s0, sum1 ^ s1
        s0, s1 = plain_step(s0, s1)
    return sum0, sum1


@pytest.mark.parametrize(("arguments", "states"), NUMBAS.items())
def test_first_states_are_numbas(arguments, states):
    found = first_states(*arguments)
    assert found.dtype == np.uint64
    assert [tuple(row) for row in found.tolist()] == states


def test_many_states_are_one_jump_apart():
    found = first_states(101, seed=42).tolist()
    for before, after in itertools.pairwise(found):
        assert plain_jump(*before) == tuple(after)


def test_the_last_of_65536_states_is_numbas():
    found = first_states(65_536, seed=42, start=3)
    assert found[0].tolist() == [17249457156002458569, 895864088961879842]
    assert found[-1].tolist() == [6516888675933299424, 9317506227752454128]


def test_no_states():
    assert first_states(0, seed=1).shape == (0, 2)


def test_lanes_step_and_jump_each_on_its_own():
    states = first_states(5, seed=9)
    stepped, jumped = step(*states.T), jump(*states.T)
    for lane, state in enumerate(states.tolist()):
        assert (stepped[0][lane], stepped[1][lane]) == plain_step(*state)
        assert (jumped[0][lane], jumped[1][lane]) == plain_jump(*state)
