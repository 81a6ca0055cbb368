"""An array asks the hooks and nobody else: copies from the runtime, ops from above."""

import numpy as np
import pytest

from tinytorch_gpu.memory import Allocator, DeviceArray, elements_of, empty, hooks


class Spy:
    """Answers every question, and writes it down."""

    def __init__(self):
        self.asked = []

    def __getattr__(self, name):
        def answer(*given, **options):
            self.asked.append((name, *given, *options.values()))
            return np.zeros(1)

        return answer


@pytest.fixture
def spy(monkeypatch):
    made = Spy()
    monkeypatch.setattr(hooks, "copies", made)
    monkeypatch.setattr(hooks, "ops", made)
    return made


@pytest.fixture
def array():
    return empty(Allocator(10_000), 4, "float32")


ASKS = {
    "to_host": lambda a: a.copy_to_host(),
    "to_device": lambda a: a.copy_to_device(np.zeros(4, np.float32)),
    "convert": lambda a: a.copy(),
    "assign": lambda a: a.fill(3),
    "ufunc": lambda a: np.exp(a),
    "function": lambda a: np.sum(a),
}


@pytest.mark.parametrize(("name", "act"), ASKS.items())
def test_what_the_array_asks_for(spy, array, name, act):
    act(array)
    assert [asked[0] for asked in spy.asked] == [name]


def test_operators_and_methods_are_numpy_calls(spy, array):
    for act in (
        lambda: array + 1,
        lambda: 2 * array,
        lambda: -array,
        lambda: array > 0,
    ):
        act()
    for method in (array.sum, array.mean, array.max):
        method(axis=0, keepdims=True)
    asked = [a[0] for a in spy.asked]
    assert asked == ["ufunc"] * 4 + ["function"] * 3


def test_a_slice_assignment_asks_with_a_view(spy, array):
    array[1:3] = 7
    ((name, view, value),) = spy.asked
    assert (name, value) == ("assign", 7)
    assert isinstance(view, DeviceArray)
    assert np.shares_memory(elements_of(view), elements_of(array))


def test_astype_of_the_same_dtype_need_not_copy(spy, array):
    assert array.astype("float32", copy=False) is array
    assert not spy.asked
    array.astype("float64")
    assert spy.asked[0][0] == "convert"
