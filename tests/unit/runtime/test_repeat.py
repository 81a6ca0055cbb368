"""A launch is run again, compared, and leaves no trace."""

import numpy as np
import pytest

from tinytorch_gpu import cuda, settings
from tinytorch_gpu.errors import OutOfBoundsError
from tinytorch_gpu.runtime import current_device
from tinytorch_gpu.runtime.repeat import Repeating
from tinytorch_gpu.runtime.watching import watching


class Again(Repeating):
    """Repeats each launch under some settings, and keeps what came out."""

    def __init__(self, prepare=None, **changes):
        self.prepare, self.changes, self.found = prepare, changes, []

    def repeat(self, launch):
        self.found.append(launch.differences(self.prepare, **self.changes))


REVERSED = {"schedule": "reversed"}


@cuda.jit
def last_wins(x, out):
    i = cuda.grid(1)
    out[0, 1] = i
    out[1, i % 3] += 0 * x[i]


@cuda.jit
def add_one(x):
    x[cuda.grid(1)] += 1


def test_the_first_difference_of_each_parameter_is_told():
    x, out = np.zeros(64, np.float32), np.zeros((2, 3), np.int32)
    again, device = Again(**REVERSED), cuda.to_device(out)
    with watching(again):
        last_wins[1, 64](cuda.to_device(x), device)
    ((found,),) = again.found
    assert (found.array, found.index, found.count) == ("out", (0, 1), 1)
    assert (found.first, found.again) == (63, 31)
    assert device.copy_to_host()[0].tolist() == [0, 63, 0]


def test_a_kernel_without_races_gives_no_difference_and_runs_once_for_memory():
    x, again = cuda.to_device(np.arange(8.0)), Again(**REVERSED)
    with watching(again):
        add_one[1, 8](x)
    assert again.found == [[]]
    assert x.copy_to_host().tolist() == list(range(1, 9))


def test_nan_equals_nan():
    x, again = cuda.to_device(np.full(8, np.nan)), Again(**REVERSED)
    with watching(again):
        add_one[1, 8](x)
    assert again.found == [[]]


@pytest.mark.parametrize(
    ("view", "index"),
    [
        (lambda whole: whole[::2], (5,)),
        (lambda whole: whole.reshape(4, 5)[1:, 2:], (1, 2)),
        (lambda whole: whole.reshape(4, 5).T, (1, 2)),
    ],
)
def test_views_are_compared_as_the_kernel_sees_them(view, index):
    @cuda.jit
    def one_line(x):
        x[5] = cuda.grid(1)

    @cuda.jit
    def two_axes(x):
        x[1, 2] = cuda.grid(1)

    again, whole = Again(**REVERSED), cuda.to_device(np.zeros(20))
    with watching(again):
        (one_line if len(index) == 1 else two_axes)[1, 64](view(whole))
    assert [(d.index, d.count) for d in again.found[0]] == [(index, 1)]


def test_arrays_in_tuples_have_a_name():
    @cuda.jit
    def of_pair(pair):
        pair[1][0] = cuda.grid(1)

    pair, again = (
        tuple(cuda.to_device(np.zeros(2)) for _ in range(2)),
        Again(**REVERSED),
    )
    with watching(again):
        of_pair[1, 64](pair)
    assert [d.array for d in again.found[0]] == ["pair[1]"]


def test_the_same_array_twice_is_told_twice():
    @cuda.jit
    def twice(a, b):
        a[0] = cuda.grid(1)
        b[1] = 0

    x, again = cuda.to_device(np.zeros(2)), Again(**REVERSED)
    with watching(again):
        twice[1, 64](x, x)
    assert [d.array for d in again.found[0]] == ["a", "b"]


def test_an_error_in_the_repetition_is_returned_and_memory_is_as_before():
    @cuda.jit
    def far(x, out):
        out[0] = cuda.grid(1)
        cuda.syncthreads()
        x[cuda.grid(1)] = 7
        cuda.syncthreads()
        if out[0] < 40:
            x[99] = 1

    x, out = cuda.to_device(np.zeros(64)), cuda.to_device(np.zeros(1))
    again = Again(**REVERSED)
    with watching(again):
        far[1, 64](x, out)
    assert isinstance(again.found[0], OutOfBoundsError)
    assert x.copy_to_host().tolist() == [7] * 64
    assert out.copy_to_host().tolist() == [63]


def test_nothing_is_printed_or_recorded_again(capsys, monkeypatch):
    @cuda.jit
    def say(x):
        print("thread", cuda.grid(1))
        x[0] = x[1 - 2 + cuda.threadIdx.x]

    x, records = cuda.to_device(np.zeros(2)), []
    monkeypatch.setattr(current_device().timeline, "listeners", [records.append])
    with watching(Again(**REVERSED)), pytest.warns(Warning, match="negative"):
        say[1, 1](x)
    assert capsys.readouterr().out == "thread 0\n"
    assert len(records) == 1
    assert settings.current().schedule == "lockstep"


def test_what_was_prepared_and_not_written_is_no_difference():
    @cuda.jit
    def copy_one(x, out):
        out[0] = x[0]

    x, out = cuda.to_device(np.array([1.0, 2.0])), cuda.to_device(np.zeros(2))

    def prepare():
        for array in (x, out):
            array.buffer.elements(np.dtype(np.float64))[:] += 5

    again = Again(prepare)
    with watching(again):
        copy_one[1, 1](x, out)
    ((found,),) = again.found
    assert (found.array, found.first, found.again, found.count) == ("out", 1, 6, 1)
    assert x.copy_to_host().tolist() == [1, 2]
    assert out.copy_to_host().tolist() == [1, 0]
