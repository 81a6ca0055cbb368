"""Options of `cuda.jit`: read, refused with a reason, or warned of."""

import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.cuda.options import Options, read_options
from tinytorch_gpu.errors import KernelWarning, UnsupportedError


def test_nothing_given_changes_nothing():
    assert read_options({}) == Options(False, False, ())


IGNORED = {
    "cache": True,
    "fastmath": True,
    "forceinline": True,
    "inline": "always",
    "lineinfo": True,
    "lto": False,
    "opt": True,
    "shared_memory_carveout": "maxl1",
    "boundscheck": False,
    "extensions": [],
    "link": (),
    "debug": None,
    "launch_bounds": None,
}


@pytest.mark.parametrize(("name", "value"), IGNORED.items())
def test_an_option_that_changes_nothing_is_accepted(name, value):
    assert read_options({name: value}) == Options()


@pytest.mark.parametrize(("given", "read"), [(64, (64,)), ((64, 2), (64, 2))])
def test_launch_bounds_are_an_int_or_a_tuple(given, read):
    assert read_options({"launch_bounds": given}).launch_bounds == read


def test_debug_and_device_are_kept():
    read = read_options({"debug": True, "opt": False, "device": True})
    assert (read.is_debug, read.is_device) == (True, True)


REFUSED = {
    "boundscheck": (True, "checks"),
    "link": ("x.cu", "Python"),
    "extensions": ([object()], "extension"),
    "argtypes": (("f4",), "options"),
    "nopython": (True, "options"),
}


@pytest.mark.parametrize(("name", "given"), REFUSED.items())
def test_an_option_is_refused_with_its_reason(name, given):
    value, word = given
    with pytest.raises(UnsupportedError, match=name) as caught:
        cuda.jit(**{name: value})
    assert word in caught.value.why
    assert caught.value.fix


def test_no_bounds_checks_is_a_not_implemented_error_as_in_numba():
    with pytest.raises(NotImplementedError):
        cuda.jit(boundscheck=True)


@pytest.mark.parametrize("name", ["opt", "lineinfo"])
def test_debug_with_what_does_not_go_with_it_warns(name):
    with pytest.warns(KernelWarning, match=name) as told:
        cuda.jit(debug=True, **{name: True})
    assert told[0].filename == __file__
