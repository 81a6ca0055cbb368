"""Calls in a kernel: known functions, intrinsics, device functions, shared arrays."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.cuda.functions import FUNCTIONS, Lowered
from tinytorch_gpu.cuda.intrinsics import Intrinsic
from tinytorch_gpu.cuda.names import NOT_STATIC, Names
from tinytorch_gpu.cuda.rewrite_expressions import ExpressionWriter, is_known

if TYPE_CHECKING:
    from tinytorch_gpu.cuda.kernel_source import KernelText

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
        self.shared: list[tuple[tuple[int, ...], np.dtype[Any]]] = []
        self.writers[ast.Call] = self._call

    def _call(self, node: ast.Call) -> str:
        callee = self.names.static(node.func)
        if isinstance(callee, Intrinsic):
            return self._intrinsic(node, callee)
        if any(isinstance(a, ast.Starred) for a in node.args):
            self.refuse(node, "`*arguments` in a kernel", "write the arguments out")
        arguments = ", ".join(self.write(a) for a in node.args)
        if is_known(callee):
            self._no_keywords(node)
            lowered: Lowered = FUNCTIONS[callee]
            written = f"{self.keep(lowered.function)}({arguments})"
            return self.counted(node, lowered.kind, written)
        return self._device_call(node, callee, arguments)

    def _device_call(self, node: ast.Call, callee: Any, arguments: str) -> str:
        program = getattr(callee, "device_program", None)
        if program is None:
            self.refuse(
                node,
                f"`{ast.unparse(node.func)}` cannot be called in a kernel",
                "use math functions, min, max, abs, casts, or a @cuda.jit function",
            )
        self._no_keywords(node)
        function = self.keep(program(is_counted=self.is_counted))
        return f"{function}(b, {self.mask}, {arguments})"

    def _no_keywords(self, node: ast.Call) -> None:
        if node.keywords:
            self.refuse(node, "keyword arguments in a kernel", "pass them by position")

    def _intrinsic(self, node: ast.Call, callee: Intrinsic) -> str:
        if callee.role == "shared_array":
            return self._shared_array(node)
        if callee.role == "barrier":
            self.refuse(
                node, f"{callee.name}() has no value", "give it a line of its own"
            )
        self._no_keywords(node)
        arguments = ", ".join(self.write(a) for a in node.args)
        return f"{self.keep(callee.lower)}(b, {arguments})"

    def _shared_array(self, node: ast.Call) -> str:
        given = dict(zip(("shape", "dtype"), node.args, strict=False))
        given.update({k.arg: k.value for k in node.keywords if k.arg})
        values = [
            self.names.static(given.get(n, ast.Name("?"))) for n in ("shape", "dtype")
        ]
        if NOT_STATIC in values:
            self.refuse(
                node,
                "a shared array's shape and dtype are compile-time constants",
                "use literals or module-level constants: shared.array(256, float32)",
            )
        shape = values[0] if isinstance(values[0], tuple) else (values[0],)
        layout = (tuple(int(n) for n in shape), np.dtype(values[1]))
        self.shared.append(layout)
        shape_name, dtype_name = map(self.keep, layout)
        return f"shared_array(b, {self.site(node)}, {shape_name}, {dtype_name})"
