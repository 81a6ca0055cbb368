"""`move_model` finds all that goes with a model, and moves each thing once."""

import numpy as np
import pytest

from tinytorch_gpu import profiler
from tinytorch_gpu.errors import UnknownDeviceError, UnsupportedError
from tinytorch_gpu.integration import move_model
from tinytorch_gpu.tinytorch import Linear, Tensor


class Model:
    """A plain class, with all that learners keep in one."""

    def __init__(self):
        self.layers = [Linear(2, 3), Linear(3, 2)]
        self.tied = self.layers[0]
        self.named = {"head": Linear(2, 2)}
        self.pair = (Linear(2, 1),)
        self.table = Tensor(np.ones((4, 2)))
        self.mean = np.zeros(3)
        self.counts = np.zeros(3, int)
        self.kind = Linear
        self.parent = self

    def parameters(self):
        return self.layers[0].parameters()


def test_everything_moves_and_keeps_its_identity():
    model = Model()
    weight = model.layers[0].weight
    assert move_model(model, "simgpu") is model
    tensors = [
        model.layers[0].weight,
        model.layers[1].bias,
        model.named["head"].weight,
        model.pair[0].weight,
        model.table,
    ]
    assert {tensor.device for tensor in tensors} == {"simgpu:0"}
    assert model.layers[0].weight is model.tied.weight is weight
    assert model.mean.device == "simgpu:0"
    assert model.mean.dtype == np.float32
    assert isinstance(model.counts, np.ndarray)


def test_there_and_back_gives_the_same_numbers():
    model = Model()
    before = model.layers[0].weight.data.copy()
    move_model(move_model(model, "simgpu"), "cpu")
    assert model.layers[0].weight.data.tolist() == before.tolist()
    assert model.table.device == "cpu"


def test_a_tied_layer_is_copied_once():
    model = Model()
    with profiler.profile() as prof:
        move_model(model, "simgpu")
    copies = [r for r in prof.events() if hasattr(r, "direction")]
    # Four layers with weight and bias, the table, the mean.
    assert len(copies) == 10


def test_an_unknown_device_moves_nothing():
    model = Model()
    with pytest.raises(UnknownDeviceError):
        move_model(model, "cuda")
    assert model.table.device == "cpu"


def test_what_is_no_model_is_refused():
    for thing in (None, [Linear(2, 3)], Tensor([1.0]), 3):
        with pytest.raises(UnsupportedError, match=r"as a model"):
            move_model(thing, "simgpu")
