"""Make a `Program` of a recorded run, or tell the rule that forbids it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tinytorch_gpu.fusion.arguments import (
    Leaf,
    View,
    array_of,
    leaves,
    rebuilt,
    view_of,
)
from tinytorch_gpu.fusion.flow import Flow, flow_of
from tinytorch_gpu.fusion.horizontal import recipes
from tinytorch_gpu.fusion.members import role_of
from tinytorch_gpu.fusion.program import Made, Program, Source
from tinytorch_gpu.fusion.reasons import Reason
from tinytorch_gpu.fusion.search import find_groups
from tinytorch_gpu.fusion.values import Value, extent
from tinytorch_gpu.trace import ArrayUse

if TYPE_CHECKING:
    from tinytorch_gpu.fusion.plan import Port
    from tinytorch_gpu.fusion.recipe import Recipe
    from tinytorch_gpu.fusion.recording import Recorded
    from tinytorch_gpu.memory import DeviceArray

__all__ = ["program_of"]


def program_of(name: str, run: Recorded) -> Program | Reason:
    """Make one kernel of a recorded run, or tell why not.

    Args:
        name: the kernel's.
        run: the run.

    Returns:
        The program, or the rule that forbids it.
    """
    flow = flow_of(run.records)
    why = _obstacle(flow)
    if why:
        return why
    found = find_groups(flow)
    results = [leaf.array for leaf in leaves(run.result, "result")]
    wanted = [v for array in results if array is not None for v in _behind(array, flow)]
    names = _Names(run.given)
    made = recipes(flow, found, wanted, names)
    if len(made) != 1 or set(made[0].steps) != set(flow.steps):
        refused = [r.reason for r in found.refused]
        return refused[0] if refused else _apart(flow)
    return _Maker(name, run, made[0]).program()


def _obstacle(flow: Flow) -> Reason | None:
    """Find what no kernel can take over."""
    if flow.opaque:
        return Reason("unknown launch", "the function launches a kernel by itself")
    for _, copy in flow.copies:
        kind = "host read" if copy.direction == "d2h" else "no rule"
        return Reason(kind, f"the function copies {copy.bytes} B ({copy.reason})")
    if len(flow.steps) < 2:
        return Reason("no rule", f"{len(flow.steps)} launch: there is nothing to fuse")
    return None


def _apart(flow: Flow) -> Reason:
    for step in flow.steps:
        role = role_of(step)
        if isinstance(role, Reason):
            return role
    ops = ", ".join(dict.fromkeys(step.op for step in flow.steps))
    return Reason("no rule", f"not all of {ops} are of one chain")


def _behind(array: DeviceArray, flow: Flow) -> list[Value]:
    """Return the last value that was written where an array lies."""
    use = ArrayUse(array.address, array.shape, array.strides, array.dtype.name)
    low, high = extent(use)
    for step in reversed(flow.steps):
        for value in step.made:
            begin, end = extent(value.use)
            if low < end and begin < high:
                return [value]
    return []


class _Names:
    """Names kernel parameters after the arguments that they come from."""

    def __init__(self, given: tuple[Leaf, ...]) -> None:
        self._given = given

    def __call__(self, use: ArrayUse, name: str) -> str:
        for leaf in self._given:
            if leaf.array is not None and view_of(use, leaf.array):
                return leaf.name
        return name


class _Maker:
    """Finds where arrays come from and go to."""

    def __init__(self, name: str, run: Recorded, recipe: Recipe) -> None:
        self._name, self._run, self._recipe = name, run, recipe

    def program(self) -> Program | Reason:
        reads = [self._source(port.use) for port in self._recipe.reads]
        if None in reads:
            port = self._recipe.reads[reads.index(None)]
            return Reason(
                "no rule",
                f"an array {port.use.shape} is read that is no argument: pass it",
            )
        writes = self._recipe.writes
        targets = [self._source(p.use) if _is_in_place(p) else None for p in writes]
        for port, target in zip(writes, targets, strict=True):
            is_old = port.use.serial < self._run.first_serial
            if is_old and target is None:
                text = f"an array {port.use.shape} is changed that is no argument"
                return Reason("no rule", text)
        for leaf in leaves(self._run.result, "result"):
            if leaf.array is None and leaf.value is not None:
                what = type(leaf.value).__name__
                return Reason("no rule", f"the function returns a {what}")
        result = rebuilt(self._run.result, self._part)
        if None in [leaf.value for leaf in leaves(result, "r")] and self._has_arrays():
            return Reason("no rule", "a result is no array that the kernel makes")
        return Program(
            self._recipe,
            self._recipe.kernel(self._name),
            tuple(source for source in reads if source),
            tuple(targets),
            result,
            tuple(map(_tensor_class, leaves(self._run.result, "result"))),
        )

    def _has_arrays(self) -> bool:
        """Tell whether some None in the result stands for an array not found."""
        arrays = [leaf.array for leaf in leaves(self._run.result, "r")]
        return any(a is not None and self._part(a) is None for a in arrays)

    def _source(self, use: ArrayUse) -> Source | None:
        for number, leaf in enumerate(self._run.given):
            view = view_of(use, leaf.array) if leaf.array is not None else None
            if view:
                return Source(number, view)
        return None

    def _part(self, value: Any) -> Any:
        """Return where a part of the result comes from."""
        array = array_of(value)
        if array is None:
            return value
        use = ArrayUse(array.address, array.shape, array.strides, array.dtype.name)
        for number, port in enumerate(self._recipe.writes):
            begin, end = extent(port.use)
            if begin <= use.address < end and port.use.dtype == use.dtype:
                whole = (port.use.address, port.use.shape, port.use.strides)
                is_whole = whole == (use.address, use.shape, use.strides)
                offset = use.address - port.use.address
                return Made(number, View(offset, use.shape, use.strides, is_whole))
        return self._source(use)


def _tensor_class(leaf: Leaf) -> type | None:
    return type(leaf.value) if leaf.is_tensor else None


def _is_in_place(port: Port) -> bool:
    return port.value.made_by is not None and port.value.made_by.is_in_place
