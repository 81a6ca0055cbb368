"""Library code at work on a device makes its arrays there; other code does not."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.integration.home import at_home, current_home
from tinytorch_gpu.integration.numpy_proxy import numpy_proxy
from tinytorch_gpu.memory import DeviceArray


def test_a_device_operand_gives_a_home_while_the_code_runs():
    x = cuda.to_device(np.ones(2, np.float32))
    device, name, _ = at_home(lambda _: current_home(), "Layer.forward")(x)
    assert (device.name, name) == ("simgpu:0", "Layer.forward")
    assert current_home() is None


def test_host_operands_give_none():
    assert at_home(lambda *_, **__: current_home(), "f")(np.ones(2), y=1) is None


def test_the_home_ends_with_an_error():
    def fails(x):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        at_home(fails, "f")(cuda.to_device(np.ones(2)))
    assert current_home() is None


@pytest.mark.parametrize(("name", "value"), [("zeros", 0.0), ("ones", 1.0)])
def test_zeros_and_ones_are_made_at_home_in_float32(name, value):
    make = getattr(numpy_proxy(), name)
    x = cuda.to_device(np.ones(2, np.float32))
    made = at_home(lambda _: make((2, 3)), "f")(x)
    assert isinstance(made, DeviceArray)
    assert made.dtype == np.float32
    assert made.copy_to_host().tolist() == np.full((2, 3), value).tolist()


def test_away_from_home_and_for_whole_numbers_they_are_numpys():
    make = numpy_proxy().zeros
    x = cuda.to_device(np.ones(2, np.float32))
    assert type(make(3)) is np.ndarray
    assert type(at_home(lambda _: make(3, int), "f")(x)) is np.ndarray
