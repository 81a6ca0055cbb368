"""Open ops and ranges: by thread, and when they end in another order than they began."""

from __future__ import annotations

import contextvars
from threading import Barrier, Thread

import numpy as np

from tinytorch_gpu import cuda
from tinytorch_gpu.profiler import profile, record_function
from tinytorch_gpu.runtime import current_device
from tinytorch_gpu.runtime.scopes import Scopes
from tinytorch_gpu.trace import LaunchRecord

THREADS, LAUNCHES = 4, 50


@cuda.jit
def double(x):
    x[cuda.grid(1)] *= 2


def _opened(timeline, name):
    """Open a range for as long as the generator lives."""
    with timeline.range_scope(name):
        yield


def _names(timeline):
    return [scope.name for scope in timeline.scope.chain()] if timeline.scope else []


def test_a_generator_closed_inside_another_range():
    timeline = Scopes()
    lazy = _opened(timeline, "lazy")
    next(lazy)
    with timeline.range_scope("step"):
        lazy.close()
        assert timeline.scope.name == "step"
    assert timeline.scope is None


def test_a_generator_that_outlives_the_range_around_it():
    timeline = Scopes()
    lazy = _opened(timeline, "lazy")
    with timeline.range_scope("step"):
        next(lazy)
        assert _names(timeline) == ["lazy", "step"]
    assert timeline.scope.name == "lazy"
    lazy.close()
    assert timeline.scope is None


def test_a_generator_closed_by_another_thread():
    timeline = Scopes()
    lazy = _opened(timeline, "lazy")
    next(lazy)
    other = Thread(target=lazy.close)
    other.start()
    other.join()
    assert timeline.scope is None
    with timeline.op_scope("add"):
        assert _names(timeline) == ["add"]


def test_a_thread_sees_no_op_of_another():
    timeline = Scopes()
    seen = []
    with timeline.op_scope("add"):
        other = Thread(
            target=contextvars.Context().run,
            args=(lambda: seen.append(timeline.scope),),
        )
        other.start()
        other.join()
        assert timeline.current_op == "add"
    assert seen == [None]


def test_launches_of_four_threads_bear_the_names_of_their_own_ranges():
    x = [cuda.to_device(np.ones(32, np.float32)) for _ in range(THREADS)]
    double[1, 32](x[0])
    together = Barrier(THREADS)

    def work(number):
        together.wait()
        for step in range(LAUNCHES):
            with record_function(f"thread {number}"), record_function(f"step {step}"):
                double[1, 32](x[number])

    with profile() as prof:
        threads = [Thread(target=work, args=(i,)) for i in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    launches = [r for r in prof.events() if isinstance(r, LaunchRecord)]
    chains = [tuple(scope.name for scope in r.scope.chain()) for r in launches]
    assert sorted(chains) == sorted(
        (f"step {step}", f"thread {number}")
        for number in range(THREADS)
        for step in range(LAUNCHES)
    )
    assert current_device().timeline.scope is None
