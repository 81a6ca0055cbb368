"""A checkpoint is written from host memory, and its buffers go where parameters are."""

import pickle

import numpy as np

from tinytorch_gpu.tinytorch import SGD, Tensor, training


def test_what_the_trainer_pickles_are_host_arrays():
    there = Tensor([1.0, 2.0]).to("simgpu")
    again = pickle.loads(training.pickle.dumps({"w": there.data, "n": [3]}))
    assert type(again["w"]) is np.ndarray
    assert again["w"].tolist() == [1.0, 2.0]
    assert again["n"] == [3]


def test_a_whole_tensor_in_the_file_is_a_host_tensor():
    there = Tensor([1.0, 2.0]).to("simgpu")
    again = pickle.loads(training.pickle.dumps(there))
    assert again.device == "cpu"
    assert again.numpy().tolist() == [1.0, 2.0]


def test_the_pickle_of_scripts_is_pythons_own():
    assert training.pickle is not pickle
    there = Tensor([1.0]).to("simgpu")
    assert pickle.loads(pickle.dumps(there)).is_simgpu


def test_momentum_goes_to_where_its_parameter_is():
    there = Tensor([1.0], requires_grad=True)
    there.data = there.to("simgpu").data
    here = Tensor([1.0], requires_grad=True)
    optimizer = SGD([there, here], lr=0.1, momentum=0.9)
    optimizer.set_momentum_state([np.ones(1, np.float32), np.ones(1, np.float32)])
    first, second = optimizer.momentum_buffers
    assert first.device == "simgpu:0"
    assert type(second) is np.ndarray
