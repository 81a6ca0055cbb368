"""Warp instructions, lanes and branches of source lines, of launches, by hand.

A warp runs every path that a lane of it takes; a loop as often as its busiest lane.

Source: CUDA C++ Best Practices Guide, "Branching and Divergence".
"""

from __future__ import annotations

import numpy as np
import pytest

from tinytorch_gpu import cuda

ONE, TWO = np.float32(1), np.float32(2)


@cuda.jit
def branch_kernel(out, period):
    t = cuda.threadIdx.x
    if (t // period) % 2 == 0:
        out[t] = ONE
    else:
        out[t] = TWO


def line(counts, text):
    """The counts of the line that starts so."""
    (found,) = (found for found in counts.lines if found.line.text.startswith(text))
    return found


# 64 threads, 2 warps. Paths alternate every `period` lanes: below 32 both warps part
# and run both stores with half of the lanes; from 32 on each runs one, with all.
@pytest.mark.parametrize("period", [1, 2, 8, 16, 32, 64])
def test_a_branch(counted, period):
    counts = counted("t4", branch_kernel, 1, 64, np.zeros(64, np.float32), period)
    parts = period < 32
    head = line(counts, "if")
    assert (head.branches, head.divergent_branches) == (2, 2 if parts else 0)
    assert head.branch_efficiency == (0.0 if parts else 1.0)
    first = line(counts, "out[t] = ONE")
    warps = 2 if period < 32 or period == 64 else 1
    assert (first.instructions, first.executions) == (warps, warps)
    assert first.active_lanes == (64 if period == 64 else 32)
    assert first.warp_execution_efficiency == (0.5 if parts else 1.0)


@cuda.jit
def loop_kernel(out, turns):
    t = cuda.threadIdx.x
    for _ in range(turns[t]):
        out[t] += 1


T = np.arange(64)


# Turns of each thread. Body: each warp as often as its busiest lane, and lane-turns.
# Head: a decision more than turns of the body. Divergent: decisions at which some
# lanes of the warp leave and some stay.
@pytest.mark.parametrize(
    ("turns", "body", "lane_turns", "decisions", "divergent"),
    [
        (0 * T + 3, 3 + 3, 64 * 3, 4 + 4, 0),
        (0 * T, 0, 0, 1 + 1, 0),
        (np.where(T == 0, 5, 0), 5, 5, 6 + 1, 1),  # 31 lanes leave at once
        (np.where(T < 32, 4, 1), 4 + 1, 32 * 5, 5 + 2, 0),
        (T % 2, 1 + 1, 32, 2 + 2, 2),
        (T % 32, 31 + 31, 2 * 496, 32 + 32, 2 * 31),  # one lane leaves at each turn
        (T // 16, 1 + 3, 16 * (0 + 1 + 2 + 3), 2 + 4, 2),
    ],
)
def test_a_loop(counted, turns, body, lane_turns, decisions, divergent):
    out = np.zeros(64, np.float32)
    counts = counted("t4", loop_kernel, 1, 64, out, turns.astype(np.int32))
    head = line(counts, "for")
    assert (head.branches, head.divergent_branches) == (decisions, divergent)
    assert head.executions == decisions
    if not body:
        assert not [found for found in counts.lines if found.line.text == "out[t] += 1"]
        return
    inside = line(counts, "out[t] += 1")
    assert inside.executions == body
    assert inside.instructions == 3 * body  # a load, an addition, a store
    assert inside.active_lanes == 3 * lane_turns
    assert inside.warp_execution_efficiency == lane_turns / (32 * body)


@cuda.jit
def tail_kernel(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i]


# Blocks of 64 over n elements: warps that begin before n, and the last one's lanes.
@pytest.mark.parametrize(
    ("n", "warps", "divergent"), [(128, 4, 0), (127, 4, 1), (97, 4, 1), (96, 3, 0)]
)
def test_a_tail(counted, n, warps, divergent):
    x = np.zeros(n, np.float32)
    counts = counted("t4", tail_kernel, 2, 64, x, np.zeros(n, np.float32))
    head, body = line(counts, "if"), line(counts, "out[i]")
    assert (head.branches, head.divergent_branches) == (4, divergent)
    assert (body.executions, body.instructions) == (warps, 2 * warps)
    assert body.active_lanes == 2 * n
    assert head.branch_efficiency == 1 - divergent / 4


def test_lanes_that_the_block_lacks_are_not_active(counted):
    out = np.zeros(40, np.float32)
    counts = counted("t4", tail_kernel, 1, 40, out, out)
    body = line(counts, "out[i]")
    assert body.warp_execution_efficiency == 40 / 64
    assert line(counts, "if").divergent_branches == 0
