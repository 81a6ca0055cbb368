"""Traces of random launches against a plain Python loop over all threads."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import tinytorch_gpu as simgpu
from tinytorch_gpu import cuda
from tinytorch_gpu.settings import override

SIZE = 7


@cuda.jit
def wander(count, steps, out):
    """Each thread adds along its own walk over `steps`, as often as it is told."""
    i = cuda.grid(1)
    if i < count.size:
        total = 0
        for k in range(count[i]):
            total += steps[i, k]
            if total > 5:
                out[total % 7] = i
        cuda.atomic.max(out, 0, total)


def history(i, count, steps):
    """Return what thread i does: kind, element, and the value if no other changes it."""
    if i >= len(count):
        return [("branch", "not taken", None)]
    told = [("branch", "taken", None), ("load", f"count[{i}]", count[i])]
    total = 0
    for k in range(count[i]):
        told += [("branch", "taken", None), ("load", f"steps[{i}, {k}]", steps[i, k])]
        total += int(steps[i, k])
        told.append(("branch", "taken" if total > 5 else "not taken", None))
        if total > 5:
            told.append(("store", f"out[{total % SIZE}]", i))
    return [*told, ("branch", "not taken", None), ("atomic", "out[0]", None)]


@st.composite
def launches(draw):
    blocks, threads = draw(st.integers(1, 4)), draw(st.integers(1, 70))
    used = draw(st.integers(1, blocks * threads))
    seed = draw(st.integers(0, 2**32 - 1))
    numbers = np.random.default_rng(seed)
    most = draw(st.integers(1, 4))
    steps = numbers.integers(0, 5, (used, most))
    if draw(st.booleans()):  # another layout in memory, the same elements
        steps = np.asfortranarray(steps)
    return blocks, threads, numbers.integers(0, most + 1, used), steps


@settings(max_examples=40, deadline=None)
@given(launches(), st.sampled_from(["lockstep", "warps", "reversed", "shuffled"]))
def test_every_thread_did_what_the_loop_says(launch, schedule):
    blocks, threads, count, steps = launch
    with override(schedule=schedule), simgpu.tracing() as traces:
        wander[blocks, threads](
            cuda.to_device(count), cuda.to_device(steps), np.zeros(SIZE, np.int64)
        )
    trace = traces[0]
    everyone = {
        (block, thread): history(block * threads + thread, count, steps)
        for block in range(blocks)
        for thread in range(threads)
    }
    for place, expected in everyone.items():
        rows = trace.thread(*place).rows
        found = [(r.kind, r.element or r.detail) for r in rows]
        assert found == [step[:2] for step in expected]
        pairs = zip(rows, expected, strict=True)
        assert all(r.value == e[2] for r, e in pairs if e[2] is not None)
    for element in range(SIZE):
        check_element(trace, element, everyone)


def check_element(trace, element, everyone):
    """All touches of an element are told, in order; the first one is the first touch."""
    rows = trace.touching("out", element).rows
    wanted = sorted(
        (kind, *place)
        for place, told in everyone.items()
        for kind, name, _ in told
        if name == f"out[{element}]"
    )
    assert sorted((r.kind, r.block[0], r.thread[0]) for r in rows) == wanted
    assert [r.step for r in rows] == sorted(r.step for r in rows)
    first = trace.first_touch("out")
    told = (first.step[element], first.block[element], first.thread[element])
    if rows:
        assert told == (rows[0].step, rows[0].block[0], rows[0].thread[0])
    else:
        assert told == (-1, -1, -1)
