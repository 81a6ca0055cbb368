"""Calls in a kernel: known functions, intrinsics, device functions, shared arrays."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.arch import check_dtype
from tinytorch_gpu.cuda.functions import FUNCTIONS, Lowered
from tinytorch_gpu.cuda.intrinsics import Intrinsic
from tinytorch_gpu.cuda.names import NOT_STATIC, Names
from tinytorch_gpu.cuda.rewrite_expressions import ExpressionWriter, is_known
from tinytorch_gpu.errors import KernelTypeError

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
            self._check_count(node, lowered.fewest, lowered.most)
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
        count = callee.py_func.__code__.co_argcount
        self._check_count(node, count, count)
        function, shared = program(is_counted=self.is_counted)
        self.shared += shared
        return f"{self.keep(function)}(b, {self.mask}, {arguments})"

    def _check_count(self, node: ast.Call, fewest: int, most: int) -> None:
        """Refuse a call with too few or too many arguments."""
        count = len(node.args)
        if fewest <= count <= most:
            return
        takes = str(fewest) if fewest == most else f"{fewest} to {most}"
        raise KernelTypeError(
            f"`{ast.unparse(node)}` has {count} arguments",
            where=str(self.text.line_of(node)),
            why=f"`{ast.unparse(node.func)}` takes {takes}",
            fix="pass as many as it takes",
        )

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
        layout = self._layout(node, *values)
        self.shared.append(layout)
        shape_name, dtype_name = map(self.keep, layout)
        return f"shared_array(b, {self.site(node)}, {shape_name}, {dtype_name})"

    def _layout(
        self, node: ast.Call, shape: Any, dtype: Any
    ) -> tuple[tuple[int, ...], np.dtype[Any]]:
        """Return a shared array's shape and dtype, checked."""
        lengths = shape if isinstance(shape, tuple) else (shape,)
        try:
            kind = np.dtype(dtype)
        except TypeError:
            self.refuse(node, f"a shared array of dtype {dtype!r}", "use float32")
        is_shape = all(isinstance(n, (int, np.integer)) and n >= 0 for n in lengths)
        if not is_shape:
            self.refuse(node, f"a shared array of shape {shape!r}", "use whole numbers")
        return tuple(map(int, lengths)), check_dtype(kind, "shared array")
