"""Tokens are drawn on the host from scores on the device, by copies that are told."""

import numpy as np

import tinytorch_gpu as simgpu
from tests.conformance.package import Package, host
from tinytorch_gpu import cuda, profiler
from tinytorch_gpu.integration.numpy_proxy import numpy_proxy
from tinytorch_gpu.integration.sampling import on_host


def copies(prof):
    return [(r.direction, r.reason) for r in prof.events() if hasattr(r, "direction")]


def test_a_function_of_host_memory_gets_copies():
    scores = cuda.to_device(np.float32([1, 3, 2]))

    def _pick(values, *, among):
        assert type(values) is type(among) is np.ndarray
        return int(np.argmax(values))

    with profiler.profile() as prof:
        assert on_host(_pick)(scores, among=scores) == 1
    assert copies(prof) == [("d2h", "pick")] * 2
    assert on_host(_pick)(np.ones(2), among=np.ones(2)) == 0


def test_library_code_draws_and_joins_what_it_drew():
    proxy = numpy_proxy()
    text = cuda.to_device(np.float32([[4, 5]]))
    chances = cuda.to_device(np.float32([0, 0, 1]))

    def generate():
        token = proxy.random.choice(3, p=chances)
        return proxy.concatenate([text, np.array([[token]])], axis=1)

    with profiler.profile() as prof:
        longer = generate()
    assert longer.dtype == np.float32
    assert longer.copy_to_host().tolist() == [[4, 5, 2]]
    assert copies(prof) == [("d2h", "choice"), ("h2d", "made in generate")]
    assert proxy.concatenate([np.ones(1), np.zeros(1)]).tolist() == [1, 0]


def test_a_list_of_device_arrays_is_stacked_by_library_code():
    rows = [cuda.to_device(np.float32([i, 1])) for i in range(2)]
    stacked = numpy_proxy().array(rows, dtype=np.float32)
    assert stacked.copy_to_host().tolist() == [[0, 1], [1, 1]]


def test_a_method_that_draws_is_wrapped_and_put_back(change):
    package = Package("standin_b.core")
    gpt = package.get("GPT")

    def _sample_next_token(self, scores):
        return int(np.argmax(np.ma.getdata(scores)))

    change(gpt, _sample_next_token=_sample_next_token)
    simgpu.install("t4", package.name)
    there = package.plain([[1.0, 2.0]], "simgpu").data
    assert gpt._sample_next_token(None, there) == 1
    assert host(there).tolist() == [[1.0, 2.0]]
    simgpu.uninstall()
    assert gpt._sample_next_token is _sample_next_token
