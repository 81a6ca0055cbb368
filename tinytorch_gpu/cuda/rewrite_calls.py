"""Calls in a kernel: known functions, intrinsics, device functions, arrays, print."""

from __future__ import annotations

import ast
import math
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.cuda.constants import known_divisor
from tinytorch_gpu.cuda.functions import known_function
from tinytorch_gpu.cuda.intrinsics import Intrinsic
from tinytorch_gpu.cuda.names import NOT_STATIC
from tinytorch_gpu.cuda.operators import division_kind
from tinytorch_gpu.cuda.program import PENDING
from tinytorch_gpu.cuda.rewrite_expressions import ExpressionWriter
from tinytorch_gpu.cuda.spelling import spell

if TYPE_CHECKING:
    from tinytorch_gpu.cuda.captured import Captured
    from tinytorch_gpu.cuda.kernel_source import KernelText
    from tinytorch_gpu.cuda.names import Names
    from tinytorch_gpu.cuda.program import DeviceProgram

__all__ = ["CallWriter"]


class CallWriter(ExpressionWriter):
    """Writes expressions with calls.

    Args:
        text: the kernel's source, for sites and errors.
        names: which names are local, and what the others stand for.
        is_counted: wrap operations for the recorder.
    """

    def __init__(self, text: KernelText, names: Names, *, is_counted: bool) -> None:
        super().__init__(text, names, is_counted=is_counted)
        self.arrays: list[Any] = []  # shape and dtype of each shared array
        self.has_arrays = False
        self.local_bytes = 0  # of local arrays, for each thread
        self.called: list[Captured] = []  # names outside the functions it calls
        self.is_recursive = False
        self.is_resumable = False
        self.is_cooperative = False
        self.writers[ast.Call] = self._call
        self._roles = {
            "barrier": self._barrier,
            "shared_array": self._shared_array,
            "local_array": self._local_array,
            "const_array": self._constant_array,
        }

    def _call(self, node: ast.Call) -> str:
        callee = self.names.static(node.func)
        if isinstance(callee, Intrinsic):
            return self._roles.get(callee.role, self._intrinsic)(node, callee)
        if getattr(node, "is_grid_sync", False):
            self.is_cooperative = True
            return self._arrival(node, "grid")
        if callee is print:
            arguments = "".join(f", {self._printed(a)}" for a in node.args)
            return f"kernel_print(b, {self.mask}{arguments})"
        known = known_function(callee) if callee is not NOT_STATIC else None
        if known is None:
            return self._device_call(node)
        arguments = self._list(node.args)
        told: tuple[str, ...] = ()
        if self.is_counted and known.kind == "convert" and len(node.args) == 1:
            given = self.fresh("t")
            arguments, told = f"{given} := {arguments}", ("'convert'", given)
        written = f"{self.keep(known.function)}({arguments})"
        kind = known.kind
        if kind == "division":
            kind = division_kind(known_divisor(node.args[-1], self.names))
        return self.counted(node, kind, written, *told)

    def _list(self, nodes: list[ast.expr]) -> str:
        return ", ".join(self.write(node) for node in nodes)

    def _bound(self, node: ast.Call) -> str:
        """Write the arguments in the order of the callee's parameters."""
        arguments: list[ast.expr] = node.bound  # type: ignore[attr-defined]
        return self._list(arguments)

    def _printed(self, node: ast.expr) -> str:
        text = self.names.static(node)
        return repr(text) if isinstance(text, str) else self.write(node)

    def _intrinsic(self, node: ast.Call, callee: Intrinsic) -> str:
        first = {"": "", "batch": "b, ", "mask": ""}[callee.needs]
        if callee.needs == "mask":
            array = spell(node.bound[0]) if callee.touches_memory else ""  # type: ignore[attr-defined]
            first = f"b, {self.mask}, {self.site(node, array)}, "
        arguments = f"{first}{self._bound(node)}"
        written = f"{self.keep(callee.lower)}({arguments})"
        return self.counted(node, callee.kind, written) if callee.kind else written

    def _device_call(self, node: ast.Call) -> str:
        program: DeviceProgram = node.program  # type: ignore[attr-defined]
        is_recursive = program.plain is None  # what it holds is not known yet
        self.is_recursive |= is_recursive
        self.arrays += program.arrays
        self.has_arrays |= program.has_arrays
        self.local_bytes += program.local_bytes
        self.called += program.captured
        self.is_cooperative |= program.is_cooperative
        run = "counted" if self.is_counted else "plain"
        call = f"{self.keep(program)}.{run}(b, {self.mask}, {self._bound(node)})"
        if program.is_resumable:
            call = self._suspended(node, f"yield from {call}")
        if program.has_arrays or is_recursive:
            call = f"b.left(b.entered({self.site(node)}), {call})"
        result = node.result  # type: ignore[attr-defined]
        return call if result is PENDING else self.converted(call, result)

    # Barriers.

    def _barrier(self, node: ast.Call, callee: Intrinsic) -> str:
        kind = callee.name.partition("_")[2] or "block"
        return self._arrival(node, kind, self._bound(node))

    def _arrival(self, node: ast.Call, kind: str, predicate: str = "") -> str:
        given = f", {predicate}" if predicate else ""
        arrival = f"arrive(b, {self.mask}, {self.site(node)}, {kind!r}{given})"
        return self._suspended(node, f"yield {arrival}")

    def _suspended(self, node: ast.Call, written: str) -> str:
        """Write a point where the lanes wait; a lambda cannot hold one."""
        self.is_resumable = True
        if self.is_lazy:
            self.refuse(
                node,
                f"`{spell(node)}` in a part that only some lanes evaluate",
                "give the barrier a line of its own",
            )
        return f"({written})"

    # Arrays that the kernel makes.

    def _shared_array(self, node: ast.Call, _callee: Intrinsic) -> str:
        self.arrays.append(node.layout)  # type: ignore[attr-defined]
        return self._made_array(node, "shared_array")

    def _local_array(self, node: ast.Call, _callee: Intrinsic) -> str:
        shape, dtype = node.layout  # type: ignore[attr-defined]
        self.local_bytes += math.prod(shape) * dtype.itemsize
        return self._made_array(node, "local_array")

    def _made_array(self, node: ast.Call, maker: str) -> str:
        self.has_arrays = True
        shape, dtype = map(self.keep, node.layout)  # type: ignore[attr-defined]
        return f"{maker}(b, {self.site(node)}, {shape}, {dtype})"

    def _constant_array(self, node: ast.Call, _callee: Intrinsic) -> str:
        return self.keep(node.constant)  # type: ignore[attr-defined]
