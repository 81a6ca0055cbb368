"""What ops do, counted by hand: each array is moved once."""

from __future__ import annotations

from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.profiler.op_work import work_of

TOY = find_gpu("toy")


def test_addition_of_two_arrays():
    work = work_of(["add"], TOY)(8000)
    assert (work.flops, work.host_bytes, work.host_calls) == (8000, 96_000, 1)
    assert work.bytes_in == (32_000, 32_000)
    assert work.bytes_out == (32_000,)
    assert work.kernel_ns == (1000 + 96_000 / 32,)


def test_a_chain_copies_its_first_operands_and_its_last_result():
    work = work_of(["add", "relu", "sum"], TOY)(100)
    assert work.bytes_in == (400, 400)
    assert work.bytes_out == (4,)
    assert work.host_bytes == 1200 + 800 + 400
    assert len(work.kernel_ns) == work.host_calls == 3


def test_matmul():
    work = work_of(["matmul"], TOY)(10)
    assert work.flops == 2000
    assert work.bytes_in == (400, 400)
    assert work.bytes_out == (400,)
