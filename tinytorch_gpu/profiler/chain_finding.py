"""The finding "fuse element-wise ops": each works on what the one before gave.

Comes in: a `Case`. Goes out: a candidate for each chain of ops, and the launches that
make it. Which ops may really be fused, and as what kernel, `simgpu.fusion` tells.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from tinytorch_gpu.library.reference_elementwise import ELEMENTWISE
from tinytorch_gpu.profiler.case import grouped, slack_ns
from tinytorch_gpu.profiler.finding import Candidate, many
from tinytorch_gpu.profiler.op_table import plain_name
from tinytorch_gpu.trace import ArrayUse, HostRecord, LaunchRecord, OpRecord
from tinytorch_gpu.units import format_ns

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tinytorch_gpu.profiler.case import Case

    Chain = dict[int, OpRecord]  # by the position of each op's one launch

__all__ = ["FORMULAS", "WHERE_TO_LOOK", "chain_findings", "chains"]

# Ops that `simgpu.fusion`, a room above this one, has no formula for.
WITHOUT_FORMULA = {
    "ceil",
    "clamp",
    "clamp_backward",
    "cos",
    "dropout",
    "dropout_backward",
    "expm1",
    "floor_divide",
    "gelu_backward",
    "log1p",
    "logaddexp",
    "reciprocal",
    "remainder",
    "round",
    "sign",
    "sin",
    "tril",
    "triu",
    "trunc",
}
FORMULAS = ELEMENTWISE.keys() - WITHOUT_FORMULA
WHERE_TO_LOOK = "simgpu.fusion.opportunities(prof)"


def chains(case: Case) -> list[dict[int, OpRecord]]:
    """Find element-wise ops right after one another, each on the result before it.

    Args:
        case: the records.

    Returns:
        Two or more ops of one launch each, by the launch's position among the records.
    """
    found: list[Chain] = []
    chain: Chain = {}
    own: list[int] = []  # launches since the last op ended
    for i, record in enumerate(case.records):
        if isinstance(record, LaunchRecord):
            own.append(i)
        elif isinstance(record, OpRecord):
            is_part = len(own) == 1 and _is_elementwise(record)
            if not is_part or (chain and not _takes(record, chain)):
                found.append(chain)
                chain = {}
            if is_part:
                chain[own[0]] = record
            own = []
        elif not isinstance(record, HostRecord):
            found.append(chain)
            chain, own = {}, []
    return [each for each in (*found, chain) if len(each) > 1]


def _is_elementwise(record: OpRecord) -> bool:
    is_whole = record.key == "SimGPU" and not record.parent
    return is_whole and plain_name(record.op) in FORMULAS and bool(record.results)


def _takes(record: OpRecord, chain: Chain) -> bool:
    *_, last = chain.values()
    return any(use == last.results[0] for use in _arrays(record))


def _arrays(record: OpRecord) -> list[ArrayUse]:
    return [use for use in record.operands if isinstance(use, ArrayUse)]


def chain_findings(case: Case) -> list[Candidate]:
    """Tell what chains of element-wise ops save as one kernel each.

    Args:
        case: the records and the GPU.

    Returns:
        A candidate for each sequence of ops.
    """
    numbered = dict(enumerate(chains(case)))
    same = grouped(numbered, lambda chain: tuple(op.op for op in chain.values()))
    return [_candidate(list(alike.values()), case) for alike in same]


def _candidate(alike: list[Chain], case: Case) -> Candidate:
    savings: dict[int, float] = {}
    for chain in alike:
        savings |= _saved(chain, case)
    took = sum(case.elapsed_ns[i] for chain in alike for i in chain)
    names = [plain_name(op.op) for op in alike[0].values()]
    times = "" if len(alike) == 1 else f", {many(len(alike), 'time', 'times')}"
    sentence = (
        f"{len(names)} element-wise ops ({', '.join(names)}) work each on what the one "
        f"before gave and take {format_ns(took)}{times}; if nothing else needs that, "
        "one kernel keeps it in registers."
    )
    fix = f"@simgpu.fuse   # {WHERE_TO_LOOK} tells what may be fused"
    return Candidate("fuse element-wise ops", savings, sentence, fix)


def _saved(chain: Chain, case: Case) -> dict[int, float]:
    """What launches after the first save: all but the time of further operands."""
    savings: dict[int, float] = {}
    (_, before), *others = chain.items()
    known = {*_arrays(before), *before.results}
    for i, op in others:
        launch, arrays = case.numbered_launches[i], _arrays(op)
        further = _bytes(use for use in arrays if use not in known)
        share = further / max(1, _bytes((*arrays, *op.results)))
        work = max(0.0, launch.duration_ns - case.spec.kernel_floor_ns)
        stays = max(0.0, share * work - slack_ns(launch))
        savings[i] = max(0.0, launch.elapsed_ns - stays)
        known |= {*arrays, *op.results}
    return savings


def _bytes(uses: Iterable[ArrayUse]) -> int:
    return sum(math.prod(u.shape) * np.dtype(u.dtype).itemsize for u in uses)
