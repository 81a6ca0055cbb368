"""What a plan's kernel will cost, before it is written: counts, bytes and time.

Memory: each array at the edge of the group once for each pass, by its addresses
(`traffic.py`). Arithmetic: that of the ops, as they were counted one by one
(`work.py`). Then the same model as for every launch: `cost.kernel_time`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tinytorch_gpu.cost import kernel_time
from tinytorch_gpu.cost.occupancy import fitting_registers
from tinytorch_gpu.cuda.registers import estimated_registers
from tinytorch_gpu.fusion.bill import Bill
from tinytorch_gpu.fusion.graph import FULL, ROW
from tinytorch_gpu.fusion.grids import element_grids, line_grid, row_grid
from tinytorch_gpu.fusion.many_text import THREADS
from tinytorch_gpu.fusion.row_text import THREADS as ROW_THREADS
from tinytorch_gpu.fusion.row_text import passes
from tinytorch_gpu.fusion.rules import REDUCTIONS
from tinytorch_gpu.fusion.text import drops_nan_check
from tinytorch_gpu.fusion.traffic import Asked, Site, Traffic
from tinytorch_gpu.fusion.values import item_bytes
from tinytorch_gpu.fusion.work import (
    Work,
    guard_line,
    joined_accesses,
    loop_line,
    op_work,
    reduction_lines,
    without_nan_check,
)
from tinytorch_gpu.trace import (
    AccessCounts,
    LaunchCounts,
    LineCounts,
    SourceLine,
)

if TYPE_CHECKING:
    from tinytorch_gpu.arch import GpuSpec
    from tinytorch_gpu.fusion.grids import Grid
    from tinytorch_gpu.fusion.plan import Plan, Port
    from tinytorch_gpu.fusion.recipe import Recipe

__all__ = ["Predicted", "predicted", "predicted_bill"]


ANSWER = Work(1.0, 1.0)  # every thread loads the block's result
SCALE = Work(3.0, 3.0, fp32=2.0, special=1.0)  # float32(1.0) / float32(n), and `*`


# Simplified: a product of one op and the sum of the next may become one multiply-add of
# the compiler; it is not foretold, so a chain may be too dear by an instruction each.


class Predicted(NamedTuple):
    """One launch that is foretold.

    Args:
        grid: how its blocks lie.
        counts: what it will do.
        shared_bytes: shared memory of one block.
        registers: of one thread, an estimate.
    """

    grid: Grid
    counts: LaunchCounts
    shared_bytes: int
    registers: int


def predicted_bill(recipe: Recipe, spec: GpuSpec) -> Bill:
    """Tell what the recipe's kernel will cost.

    Args:
        recipe: the kernel.
        spec: the GPU.

    Returns:
        Launches, DRAM bytes and modelled time.
    """
    times = []
    for launch in predicted(recipe, spec):
        sizes = launch.grid.grid, launch.grid.block
        registers = fitting_registers(
            launch.registers, math.prod(launch.grid.block), spec
        )
        times.append(
            kernel_time(launch.counts, *sizes, launch.shared_bytes, spec, registers)
        )
    moved = sum(t.traffic.dram_bytes for t in times if t.traffic)
    return Bill.of([round(t.duration_ns) for t in times], moved, spec.launch_issue_ns)


def predicted(recipe: Recipe, spec: GpuSpec) -> list[Predicted]:
    """Foretell the launches of a recipe's kernel.

    Args:
        recipe: the kernel.
        spec: the GPU, whose rules count.

    Returns:
        One launch; more where no two axes express its arrays.
    """
    if recipe.is_many:
        return [_many(recipe, spec)]
    (plan,) = recipe.plans
    shape, registers = plan.group.shape, _registers(recipe)
    ports = [*plan.reads, *plan.writes]
    places = [port.place for port in ports]
    if plan.graph.has_rows:
        grid = row_grid(shape, places, ROW_THREADS)
        counts = _row_counts(plan, grid, spec)
        return [Predicted(grid, counts, 4 * ROW_THREADS, registers)]
    grids = element_grids(shape, [places[-1], *places[:-1]])
    return [Predicted(g, _element_counts(plan, g, spec), 0, registers) for g in grids]


def _many(recipe: Recipe, spec: GpuSpec) -> Predicted:
    """Foretell the launch over several arrays: each thread has its place in all."""
    sizes = [math.prod(plan.group.shape) for plan in recipe.plans]
    blocks = -(-max(sizes) // THREADS)
    parts = []
    for plan, size in zip(recipe.plans, sizes, strict=True):
        ports = [plan.writes[-1], *plan.reads, *plan.writes[:-1]]
        arrays = tuple(
            (port.place.address, 0, item_bytes(port.use.dtype)) for port in ports
        )
        grid = line_grid(blocks, THREADS, size, arrays)
        parts.append((grid, _element_counts(plan, grid, spec, axes=1)))
    counts = LaunchCounts(
        tuple(a for _, part in parts for a in part.accesses),
        tuple(line for _, part in parts for line in part.lines),
        0,
        tuple(r for _, part in parts for r in part.reuse),
    )
    return Predicted(parts[0][0], counts, 0, _registers(recipe))


def _registers(recipe: Recipe) -> int:
    """Estimate registers as for every kernel: by its variables."""
    graphs = [plan.graph for plan in recipe.plans]
    variables = {
        graph.variable(number)
        for graph in graphs
        for number, node in enumerate(graph.nodes)
        if node.kind != "number"
    }
    own = sum(node.kind == "reduce" for graph in graphs for node in graph.nodes)
    index, real = np.int64(0), np.float32(0)
    arrays: list[object] = [None] * (len(recipe.reads) + len(recipe.writes))
    arrays += [real] * (len(variables) + len(recipe.numbers) + own)
    arrays += [index] if recipe.is_many else [index, index]
    return estimated_registers([*arrays, None] if recipe.has_rows else arrays, 0)


def _element_counts(
    plan: Plan, grid: Grid, spec: GpuSpec, *, axes: int = 2
) -> LaunchCounts:
    """Counts of an element-wise kernel: guard, loads, one line for each op, stores."""
    ports = [plan.writes[-1], *plan.reads, *plan.writes[:-1]]
    stored = {id(port) for port in plan.writes}
    kinds = ["store" if id(port) in stored else "load" for port in ports]
    found = [(port, Site(i, kinds[i])) for i, port in enumerate(ports)]
    traffic = Traffic(grid, spec)
    main = traffic.asked(found[0][1])
    lines = [guard_line(grid.warps, axes)]
    for number, node in enumerate(plan.graph.nodes):
        if node.kind == "apply" and number in plan.made_by:
            work = _node_work(plan, number)
            lines.append(work.counts(node.op, main.requests, main.active_lanes))
    return _together(traffic, grid, found, lines)


def _node_work(plan: Plan, number: int) -> Work:
    work = op_work(plan.made_by[number])
    is_shorter = drops_nan_check(plan.graph, plan.graph.nodes[number])
    return without_nan_check(work) if is_shorter else work


def _row_counts(plan: Plan, grid: Grid, spec: GpuSpec) -> LaunchCounts:
    """Counts of a row kernel: for each pass its loads, its ops, and the join."""
    walks = passes(plan.graph)
    found = []
    for i, port in enumerate((*plan.reads, *plan.writes)):
        kind = "load" if i < len(plan.reads) else "store"
        is_loop = port.level == FULL and kind == "load"
        times = sum(port.name in _loads(plan, walk) for walk in walks) if is_loop else 1
        found.append((port, Site(i, kind, times, is_row=port.level == ROW)))
    lines, shared, barriers = _row_work(plan, grid, walks)
    if walks[-1]:
        lines.append(loop_line(_turns(grid) + grid.warps))
    counts = _together(Traffic(grid, spec), grid, found, lines)
    return replace(
        counts,
        accesses=(*counts.accesses, *shared),
        barriers=barriers,
        reuse=counts.reuse,
    )


def _row_work(
    plan: Plan, grid: Grid, walks: list[list[int]]
) -> tuple[list[LineCounts], list[AccessCounts], int]:
    """Return lines, shared accesses and barriers of a row kernel."""
    lines: list[LineCounts] = []
    joins: dict[str, list[LaunchCounts]] = defaultdict(list)
    barriers = 0
    warps, lanes = grid.warps, 32 * grid.warps
    turns, elements = _turns(grid), grid.rows * grid.columns
    for number, node in enumerate(plan.graph.nodes):
        if node.kind == "apply" and number in plan.made_by:
            work = _node_work(plan, number)
            times = sum(number in walk for walk in walks)
            sizes = (times * turns, times * elements)
            is_full = node.level == FULL
            lines.append(work.counts(node.op, *(sizes if is_full else (warps, lanes))))
        elif node.kind == "reduce":
            counts = plan.made_by[number].launches[0].counts
            if counts:
                lines += reduction_lines(counts)
                joins[REDUCTIONS[node.op].finish].append(counts)
                barriers += counts.barriers + warps
            lines.append(ANSWER.counts("cache[0]", warps, lanes))
            if REDUCTIONS[node.op].scale:
                lines.append(SCALE.counts("scale", warps, lanes))
    shared = [a for same in joins.values() for a in joined_accesses(same)]
    return lines, shared, barriers


def _loads(plan: Plan, walk: list[int]) -> set[str]:
    nodes = (plan.graph.nodes[number] for number in walk)
    return {node.op for node in nodes if node.kind == "read"}


def _turns(grid: Grid) -> int:
    """Return the turns of all warps in one pass over all rows."""
    whole, rest = divmod(grid.columns, grid.block[0])
    return grid.rows * (whole * grid.padded // 32 + -(-rest // 32))


def _together(
    traffic: Traffic,
    grid: Grid,
    found: list[tuple[Port, Site]],
    lines: list[LineCounts],
) -> LaunchCounts:
    """Put accesses, lines and what comes again together."""
    accesses: list[AccessCounts] = []
    shared: dict[tuple[str, int], list[tuple[Port, Site]]] = defaultdict(list)
    for port, site in found:
        asked = traffic.asked(site)
        accesses += [_access(port, site.kind, asked)] * site.times
        line = SourceLine("fused", "", 0, f"{port.name}[row, col]")
        both = site.times * asked.requests, site.times * asked.active_lanes
        lines.append(LineCounts(line, *both, 0, 0, 0, 0, 0, 0, both[0]))
        shared[site.kind, port.use.serial].append((port, site))
    reuse = []
    for same in shared.values():
        nbytes = max(_reach(grid, port) for port, _ in same)
        reuse.append(traffic.reuse(same[0][0].name, [s for _, s in same], nbytes))
    return LaunchCounts(tuple(accesses), tuple(lines), 0, tuple(reuse))


def _access(port: Port, kind: str, asked: Asked) -> AccessCounts:
    line = SourceLine("fused", "", 0, f"{port.name}[row, col]")
    return AccessCounts(
        line,
        port.name,
        "global",
        kind,
        asked.requests,
        asked.sectors,
        asked.active_lanes,
        asked.active_lanes * item_bytes(port.use.dtype),
        0,
        wavefronts=asked.wavefronts,
        bytes_used=asked.bytes_used,
        tags=asked.tags,
    )


def _reach(grid: Grid, port: Port) -> int:
    """Return the bytes that indices can reach; a broadcast array's whole view."""
    columns = grid.columns if port.level == FULL else 1
    return item_bytes(port.use.dtype) * grid.rows * columns
