"""Scopes: chains, and identity."""

from __future__ import annotations

from tinytorch_gpu.trace import Scope


def test_a_chain_goes_from_inside_to_outside():
    outer = Scope("outer", None, is_op=False)
    inner = Scope("inner", outer, is_op=True)
    assert list(inner.chain()) == [inner, outer]


def test_two_runs_of_one_op_are_two_scopes():
    first, second = (Scope("add", None, is_op=True) for _ in range(2))
    assert first != second
    assert len({first, second}) == 2
