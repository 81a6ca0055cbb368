"""Stand-in modules: names come from what is behind them, and only public ones."""

import pickle
import types

import pytest

from tinytorch_gpu.as_numba.stand_in import (
    MissingModuleError,
    MissingNameError,
    StandIn,
)


@pytest.fixture
def behind():
    module = types.ModuleType("behind")
    module.__all__ = ["shown"]
    module.shown, module.inner = 1, 2
    return module


def test_names_come_from_the_first_namespace_that_has_them(behind):
    module = StandIn("numba.x", {"own": 0, "shown": 5}, behind)
    assert (module.own, module.shown) == (0, 5)
    assert StandIn("numba.x", behind, {"shown": 5}).shown == 1


def test_a_module_shows_its_public_names_only(behind):
    module = StandIn("numba.x", behind)
    assert dir(module) == module.__all__ == ["shown"]
    assert not hasattr(module, "inner")
    assert not hasattr(module, "__file__")


def test_a_missing_name_says_what_it_is_missing_from():
    with pytest.raises(MissingNameError, match=r"numba\.x has no warp under as_numba"):
        StandIn("numba.x", {}).warp  # noqa: B018


def test_a_missing_name_is_an_attribute_error():
    assert getattr(StandIn("numba.x", {}), "warp", "none") == "none"


def test_a_missing_module_pickles():
    error = pickle.loads(pickle.dumps(MissingModuleError("numba.cuda.lowering")))
    assert isinstance(error, ModuleNotFoundError)
    assert error.name == "numba.cuda.lowering"
    assert str(error).startswith("no module numba.cuda.lowering under as_numba\n")
