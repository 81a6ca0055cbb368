"""Types of calls: intrinsics, arrays made in the kernel, device functions."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.arch import check_dtype
from tinytorch_gpu.cuda.binding import bound_arguments
from tinytorch_gpu.cuda.declared import declared_dummies
from tinytorch_gpu.cuda.dummies import array_dummy, dummy_of
from tinytorch_gpu.cuda.functions import known_function
from tinytorch_gpu.cuda.infer_expressions import UnknownTypeError
from tinytorch_gpu.cuda.infer_statements import StatementTypes
from tinytorch_gpu.cuda.intrinsics import GridGroup, Intrinsic
from tinytorch_gpu.cuda.names import NOT_STATIC
from tinytorch_gpu.cuda.numba_types import from_numba
from tinytorch_gpu.cuda.program import PENDING, DeviceProgram
from tinytorch_gpu.cuda.spelling import spell
from tinytorch_gpu.cuda.versions import Converted
from tinytorch_gpu.errors import KernelTypeError, UnsupportedError
from tinytorch_gpu.executor.lanes import Batch

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["CallTypes"]

ONE_THREAD = Batch((1, 1, 1), (1, 1, 1), first=0, count=1)
MOST_PRINTED = 32


class CallTypes(StatementTypes):
    """Finds the types of everything in a kernel.

    Args:
        function_of: gives for a call's target the device function behind it, or None.
        **others: as in `StatementTypes`.
    """

    def __init__(
        self,
        *others: Any,
        function_of: Callable[[Any], Any],
        program: DeviceProgram | None,
    ) -> None:
        super().__init__(*others, is_kernel=program is None)
        self._function_of = function_of
        self._program = program
        self.readers[ast.Call] = self._call
        self._roles: dict[str, Callable[[ast.Call, list[ast.expr]], Any]] = {
            "axes": self._axes,
            "shared_array": self._made_array,
            "local_array": self._made_array,
            "const_array": self._constant_array,
        }

    def _call(self, node: ast.Call) -> Any:
        callee = self.names.static(node.func)
        if callee is NOT_STATIC and isinstance(node.func, ast.Attribute):
            self._method(node, node.func)
            return None
        if isinstance(callee, Intrinsic):
            return self.intrinsic(node, callee)
        if any(isinstance(a, ast.Starred) for a in node.args):
            self.refuse(node, "`*arguments` in a kernel", "write the arguments out")
        known = known_function(callee)
        if known is None:
            return self.device_call(node, callee)
        if node.keywords:
            self.refuse(node, "keyword arguments here", "pass them by position")
        known.check_count(node, str(self.text.line_of(node)))
        return dummy_of(known.function(*map(self.read, node.args)))

    def _method(self, node: ast.Call, function: ast.Attribute) -> None:
        """Type a method's call: the grid group's sync() is the one there is."""
        self.check_exists(function)
        base = self.read(function.value)
        if not isinstance(base, GridGroup) or function.attr != "sync" or node.args:
            self.refuse(
                node,
                f"the method `.{function.attr}()` in a kernel",
                "use operators, functions of cuda and math, or a @cuda.jit function",
            )
        node.is_grid_sync = True  # type: ignore[attr-defined]

    def intrinsic(self, node: ast.Call, callee: Intrinsic) -> Any:
        """Return the dummy of an intrinsic's result."""
        where = str(self.text.line_of(node))
        arguments = bound_arguments(node, callee.parameters, where)
        node.bound = arguments  # type: ignore[attr-defined]
        special = self._roles.get(callee.role)
        if special is not None:
            return special(node, arguments)
        dummies = [self.read(argument) for argument in arguments]
        if callee.infer is not None:
            return callee.infer(*dummies)
        first = (ONE_THREAD,) if callee.needs else ()
        return dummy_of(callee.lower(*first, *dummies))

    def _axes(self, node: ast.Call, arguments: list[ast.expr]) -> Any:
        count = self.names.static(arguments[0])
        callee: Intrinsic = self.names.static(node.func)
        is_number = isinstance(count, (int, np.integer))
        return dummy_of(callee.lower(ONE_THREAD, np.int64(count if is_number else 0)))

    def _made_array(self, node: ast.Call, arguments: list[ast.expr]) -> Any:
        """Type an array that the kernel makes: shape and dtype are constants."""
        shape = self.names.static(arguments[0])
        dtype = self._dtype(arguments[1])
        if NOT_STATIC in (shape, dtype):
            self.refuse(
                node,
                "an array made in a kernel has a compile-time shape and dtype",
                "use literals or module-level constants: shared.array(256, float32)",
            )
        lengths = shape if isinstance(shape, tuple) else (shape,)
        if not all(isinstance(n, (int, np.integer)) and n >= 0 for n in lengths):
            self.refuse(node, f"an array of shape {shape!r}", "use whole numbers")
        try:
            kind = np.dtype(from_numba(dtype))
        except TypeError:
            self.refuse(node, f"an array of dtype {dtype!r}", "use float32")
        check_dtype(kind, "array in a kernel")
        node.layout = (tuple(map(int, lengths)), kind)  # type: ignore[attr-defined]
        return array_dummy(kind, len(lengths))

    def _dtype(self, node: ast.expr) -> Any:
        """Return a dtype: a constant, or the `x.dtype` of an array."""
        value = self.names.static(node)
        if value is NOT_STATIC and isinstance(node, ast.Attribute):
            found = self.read(node)
            return found if isinstance(found, np.dtype) else NOT_STATIC
        return value

    def _constant_array(self, node: ast.Call, arguments: list[ast.expr]) -> Any:
        array = self.names.static(arguments[0])
        if not isinstance(array, np.ndarray):
            self.refuse(
                node,
                "a constant array is copied from a NumPy array of the host",
                "make the array at module level: cuda.const.array_like(TABLE)",
            )
        node.constant = self.names.frozen(array)  # type: ignore[attr-defined]
        return array_dummy(array.dtype, array.ndim)

    def printed(self, node: ast.Call) -> None:
        """Type a call of `print`: numbers and literal strings.

        Raises:
            KernelTypeError: an argument is an array, or None.
        """
        if node.keywords or len(node.args) > MOST_PRINTED:
            self.refuse(
                node, "print with keywords or more than 32 values", "print less"
            )
        for argument in node.args:
            if isinstance(self.names.static(argument), str):
                continue
            dummy = self.read(argument)
            if not isinstance(dummy, (np.generic, tuple)):
                raise KernelTypeError(
                    f"`{spell(argument)}` cannot be printed",
                    why="a kernel prints numbers, tuples of them and literal strings",
                    fix="print an element: print(x[i])",
                )

    def device_call(self, node: ast.Call, callee: Any) -> Any:
        """Return the dummy of a device function's result; note its program."""
        if callee is print:
            return self.printed(node)
        function = self._function_of(callee)
        if function is None:
            self.refuse(
                node,
                f"`{spell(node.func)}` cannot be called in a kernel",
                "use math functions, min, max, abs, casts, or a @cuda.jit function",
            )
        where = str(self.text.line_of(node))
        arguments = bound_arguments(node, function.parameters, where)
        dummies = [self.read(argument) for argument in arguments]
        result = PENDING
        if declared := getattr(callee, "declared", ()):
            name = function.text.name
            dummies, result = declared_dummies(name, declared, dummies)
            arguments = list(map(Converted, arguments, dummies))
        program: DeviceProgram = function.device_program(dummies)
        node.bound, node.result, node.program = arguments, result, program  # type: ignore[attr-defined]
        is_own = program is self._program
        self.is_recursive |= is_own
        if program.plain is None and not is_own:
            raise _mutual(program.name, where)
        returned = program.returned if result is PENDING else result
        if returned is PENDING:
            raise UnknownTypeError(_endless(program.name, where))
        return returned

    def settle_return(self, tree: ast.FunctionDef) -> None:
        """Let recursive calls know what the function returns."""
        super().settle_return(tree)
        if self._program is not None and self.is_return_known:
            self._program.returned = self.returned


def _endless(name: str, where: str) -> UnsupportedError:
    return UnsupportedError(
        f"device function {name} calls itself before it is known what it returns",
        where=where,
        why="some path must return without a call of itself",
        fix="add an `if` that returns at the end of the recursion",
    )


def _mutual(name: str, where: str) -> UnsupportedError:
    return UnsupportedError(
        f"device function {name} is called by a function that it calls",
        where=where,
        why="a function may call itself, but two may not call each other, as in numba",
        fix="write both as one function, or as a loop",
    )
