"""A slow, obviously right interpreter of kernels: one thread after another.

The kernel's own Python function runs once for each thread, so that Python itself does
the control flow. Three things are replaced, because a GPU is not Python:

1. operators and literals, by `binary` and `literal`: numba's types, wrapping integers;
2. arrays, by `Array`: bounds are checked and a store converts as the GPU does;
3. the names of `cuda`, by those of the one thread that runs.

Each thread is a generator. It runs until it ends or comes to an operation that other
threads take part in, and goes on when they have come: the lanes that a mask names, the
threads of the block, or those of the grid. Threads run in ascending order, block after
block.
"""

import numpy as np

from tests.reference.arithmetic import literal
from tests.reference.groups import OF_WARP, answers_of_block, answers_of_warp
from tests.reference.memory import Array
from tests.reference.rewriting import interpreted
from tests.reference.thread import Thread, Triple


def run(kernel, grid, block, arguments, shared_bytes=0):
    """Run every thread of a launch in turn; NumPy arrays change in place.

    Args:
        kernel: the `cuda.jit` kernel.
        grid: blocks, an int or a tuple of up to three.
        block: threads of a block, likewise.
        arguments: of the kernel; the same array twice is one array.
        shared_bytes: dynamic shared memory of each block.
    """
    grid, block = map(_lengths, (grid, block))
    thread = Thread(grid, block, shared_bytes)
    function = interpreted(kernel.py_func, thread)
    values = {id(a): Array(a) for a in arguments if isinstance(a, np.ndarray)}
    given = [values.get(id(a), literal(a)) for a in arguments]

    def start(block_index):
        memory = {}
        return [
            Running(
                thread, (Triple(block_index), Triple(index), memory), function, given
            )
            for index in _indices(block)
        ]

    with np.errstate(all="ignore"):
        blocks = [start(index) for index in _indices(grid)]
        while not all(t.has_ended for threads in blocks for t in threads):
            for threads in blocks:
                run_block(threads)
            for waiting in (t for threads in blocks for t in threads):
                waiting.release()  # all others have ended or stand at the grid barrier


class Running:
    """One thread: how far it is, and what it waits for.

    Args:
        thread: what the kernel knows as `cuda`.
        coordinates: of block and thread, and the block's memory.
        function: the kernel, a generator function.
        given: its arguments.
    """

    def __init__(self, thread, coordinates, function, given):
        self._thread = thread
        self._coordinates = coordinates
        self._generator = function(*given)
        self.has_ended = False
        self.release()

    def release(self, answer=None):
        """Let it go on, with the answer to what it waited for."""
        self.request, self._answer = None, answer
        self.is_ready = not self.has_ended

    def go(self):
        """Run to the next operation of a group, or to the end."""
        self._thread.become(*self._coordinates)
        self.is_ready = False
        try:
            self.request = self._generator.send(self._answer)
        except StopIteration:
            self.has_ended = True


def run_block(threads):
    """Run a block until each thread has ended or waits for the grid."""
    while True:
        for first in range(0, len(threads), 32):
            run_warp(threads[first : first + 32])
        waiting = [t for t in threads if not t.has_ended]
        if all(t.request.name == "grid.sync" for t in waiting):
            return
        answers = answers_of_block([t.request for t in waiting])
        for one, answer in zip(waiting, answers, strict=True):
            one.release(answer)


def run_warp(lanes):
    """Run a warp until each lane has ended or waits for the block or the grid."""
    is_going = True
    while is_going:
        for lane in lanes:
            if lane.is_ready:
                lane.go()
        is_going = answer_a_group(lanes)


def answer_a_group(lanes):
    """Answer lanes that have all come to one warp operation; tell if there were any."""
    requests = {n: t.request for n, t in enumerate(lanes) if t.request is not None}
    waiting = {n: r for n, r in requests.items() if r.name in OF_WARP}
    for asked in waiting.values():
        named = [n for n, t in enumerate(lanes) if asked.mask >> n & 1]
        alive = [n for n in named if not lanes[n].has_ended]
        group = {
            n: waiting[n]
            for n in alive
            if n in waiting
            and (waiting[n].name, waiting[n].mask) == (asked.name, asked.mask)
        }
        if len(group) == len(alive):
            for n, answer in answers_of_warp(group).items():
                lanes[n].release(answer)
            return True
    assert not waiting, "lanes wait for lanes that never come"
    return False


def _lengths(given):
    parts = given if isinstance(given, tuple) else (given,)
    return (*parts, 1, 1)[:3]


def _indices(lengths):
    x, y, z = lengths
    return [(i, j, k) for k in range(z) for j in range(y) for i in range(x)]
