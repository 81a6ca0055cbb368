"""xoroshiro128+ on many generators at once: steps, jumps, first states.

A state is two 64-bit words. A step is linear over bits (shifts, rotations, exclusive
or), so that any number of steps is one 128 × 128 matrix of bits; a jump of 2**64 steps
is known by its polynomial. Generator i starts i jumps after generator 0, whose words
both come from SplitMix64 of the seed.

Source: Blackman and Vigna, "Scrambled linear pseudorandom number generators", ACM TOMS
47 (2021), in the first version of the generator (rotations 55 and 36, shift 14), which
numba uses; seeding as numba-cuda 0.30.4 does it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["first_states", "jump", "step"]

Words = npt.NDArray[np.uint64]
JUMP = (0xBEAC0467EBA5FACB, 0xD86B048B86AA9922)  # polynomial of 2**64 steps
BITS = np.arange(64, dtype=np.uint64)
ZERO = np.uint64(0)


def _rotated(word: Any, count: int) -> Any:
    return (word << np.uint64(count)) | (word >> np.uint64(64 - count))


def step(s0: Any, s1: Any) -> tuple[Any, Any]:
    """Return the state after one step.

    Args:
        s0: first words, uint64.
        s1: second words.

    Example:
        >>> step(np.uint64(1), np.uint64(2))
        (np.uint64(36028797019013123), np.uint64(206158430208))
    """
    mixed = s1 ^ s0
    first = _rotated(s0, 55) ^ mixed ^ (mixed << np.uint64(14))
    return first, _rotated(mixed, 36)


def jump(s0: Any, s1: Any) -> tuple[Any, Any]:
    """Return the state after 2**64 steps."""
    sum0 = sum1 = ZERO
    for polynomial in JUMP:
        for bit in range(64):
            if polynomial >> bit & 1:
                sum0, sum1 = sum0 ^ s0, sum1 ^ s1
            s0, s1 = step(s0, s1)
    return sum0, sum1


def _seeded(seed: int) -> int:
    """Return the word that SplitMix64 makes of a seed."""
    word = (seed + 0x9E3779B97F4A7C15) % 2**64
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB % 2**64
    return word ^ (word >> 31)


def first_states(count: int, seed: int, start: int = 0) -> Words:
    """Return the states of generators that are 2**64 steps apart.

    Args:
        count: number of generators.
        seed: seed, taken modulo 2**64.
        start: jumps before the first generator.

    Returns:
        uint64 (count, 2).

    Example:
        >>> first_states(2, seed=1)[0].tolist()
        [10451216379200822465, 10451216379200822465]
    """
    words = np.full((1, 2), _seeded(int(seed)), np.uint64)
    matrix = np.stack(jump(*_unit_states().T), axis=1)  # of one jump
    power = matrix
    while start:
        if start & 1:
            words = _applied(power, words)
        power, start = _applied(power, power), start >> 1
    while len(words) < count:  # the second half is the first, len(words) jumps on
        words = np.concatenate([words, _applied(matrix, words)])
        matrix = _applied(matrix, matrix)
    return words[:count]


def _unit_states() -> Words:
    """Return the 128 states with a single bit set, (128, 2)."""
    states = np.zeros((128, 2), np.uint64)
    states[:64, 0] = states[64:, 1] = np.uint64(1) << BITS
    return states


def _applied(matrix: Words, states: Words) -> Words:
    """Multiply states (n, 2) by a matrix of bits: row b is what bit b turns into."""
    result = np.zeros_like(states)
    for bit in range(128):
        is_set = (states[:, bit // 64] >> BITS[bit % 64]) & np.uint64(1)
        result ^= (ZERO - is_set)[:, None] & matrix[bit]
    return result
