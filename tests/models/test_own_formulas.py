"""A learner's own formulas in NumPy, on Tensors: the same on the device."""

import numpy as np
import pytest

from tinytorch_gpu import profiler
from tinytorch_gpu.tinytorch import Tensor
from tinytorch_gpu.tinytorch.functions import Function
from tinytorch_gpu.trace import OpRecord

SHAPE = (4, 6)
FORMULAS = {
    "sign": np.sign,
    "round": lambda x: np.round(x * 3) / 3,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "sin": lambda x: x + np.sin(x) ** 2,  # Snake
    "cos": np.cos,
    "log1p": lambda x: np.log1p(np.exp(-np.abs(x))) + np.maximum(x, 0),  # Softplus
    "expm1": lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),  # ELU
    "reciprocal": lambda x: x * np.reciprocal(1 + np.abs(x)),  # Softsign
    "floor_divide": lambda x: x // 0.3,
    "remainder": lambda x: (x + np.pi) % (2 * np.pi) - np.pi,
    "logaddexp": lambda x: np.logaddexp(x, 0.0),
    "prod": lambda x: np.prod(x, axis=-1, keepdims=True),
}


class Own(Function):
    """A learner's Function of one formula."""

    formula = None

    def forward(self, x):
        return type(self).formula(x)


@pytest.mark.usefixtures("on_simgpu")
@pytest.mark.parametrize("op", FORMULAS)
def test_a_formula_gives_the_same_on_both_devices(op, monkeypatch):
    monkeypatch.setattr(Own, "formula", staticmethod(FORMULAS[op]))
    x = Tensor(np.random.default_rng(3).uniform(-3, 3, SHAPE).astype(np.float32))
    with profiler.profile() as prof:
        there = Own.apply(x.to("simgpu"))
        plain = Tensor(FORMULAS[op](x.to("simgpu").data))
    served = [r.op for r in prof.events() if isinstance(r, OpRecord)]
    assert served.count(f"tinytorch::{op}") == 2
    assert there.device == plain.device == "simgpu:0"
    expected = Own.apply(x).data
    for found in (there, plain):
        host = found.cpu().data
        assert host.dtype == expected.dtype
        np.testing.assert_allclose(host, expected, rtol=1e-6, atol=1e-6)
