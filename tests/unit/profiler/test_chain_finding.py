"""Element-wise ops that work each on what the one before gave."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.fusion.rules import ELEMENTWISE
from tinytorch_gpu.profiler.bill import Bill, bill_of
from tinytorch_gpu.profiler.case import Case
from tinytorch_gpu.profiler.chain_finding import FORMULAS, chain_findings, chains
from tinytorch_gpu.trace import ArrayUse

T4 = find_gpu("t4")
A, B, C, D = (ArrayUse(512 * n, (1024,), (4,), "float32") for n in range(1, 5))


def case_of(records):
    bill = sum(map(bill_of, records), Bill())
    return Case(tuple(records), bill, bill.total_ns, T4)


@pytest.fixture
def ran(launch, op):
    """Give the records of an op that takes 20 µs on arrays and gives one."""

    def make(name, *operands, gives, **changes):
        long = {"duration_ns": 20_000.0, "elapsed_ns": 20_000.0}
        record = replace(op(name), operands=operands, results=(gives,), **changes)
        return [launch(name, **long), record]

    return make


def test_all_ops_with_a_formula_are_looked_for():
    known = set(ELEMENTWISE) - {"gelu_of_finite"}
    assert known == FORMULAS


def test_all_but_the_first_launch_is_saved(ran):
    records = [*ran("mul", A, gives=B), *ran("exp", B, gives=C)]
    (found,) = chain_findings(case_of(records))
    assert found.savings == {2: 20_000}
    assert "2 element-wise ops (mul, exp) work each on what" in found.sentence
    assert "take 40.0 µs; if" in found.sentence
    assert "@simgpu.fuse" in found.fix


def test_an_operand_from_elsewhere_must_still_be_loaded(ran):
    """A third of what the sum moves, of its time beyond the floor."""
    records = [*ran("mul", A, gives=B), *ran("add", B, C, gives=D)]
    (found,) = chain_findings(case_of(records))
    stays = (20_000 - T4.kernel_floor_ns) / 3
    assert found.savings[2] == pytest.approx(20_000 - stays)
    known = [*ran("mul", A, gives=B), *ran("add", B, A, gives=D)]
    assert chain_findings(case_of(known))[0].savings[2] == 20_000


def test_what_is_no_chain(ran, copy):
    first, second = ran("mul", A, gives=B), ran("exp", B, gives=C)
    assert not chains(case_of([*first, *ran("exp", A, gives=C)]))
    assert not chains(case_of([*first, copy(), *second]))
    assert not chains(case_of([*first, *ran("matmul", B, gives=C)]))
    assert not chains(case_of([*first, *ran("exp", B, gives=C, parent="softmax")]))
    assert not chains(case_of([first[0], *first, *ran("exp", B, gives=C)]))
    assert chains(case_of([*first, *second]))


def test_the_same_chain_again_is_one_finding(ran):
    records = [*ran("mul", A, gives=B), *ran("exp", B, gives=C)]
    (found,) = chain_findings(case_of(records * 3))
    assert len(found.savings) == 3
    assert "120 µs, 3 times; if" in found.sentence
