"""Signatures of `cuda.jit`: read them, choose one, and convert a launch's arguments.

A signature is a `types.Signature`, a tuple of types, or their text. Text is read as
syntax and looked up name by name; nothing of it is run.

Source: numba.cuda 0.30.4: spelling; numbers are packed with `ctypes` (integers wrap,
a float is refused where an integer is declared); of several signatures the one with the
fewest lossy conversions is taken.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.cuda import types
from tinytorch_gpu.cuda.numba_types import from_numba
from tinytorch_gpu.cuda.types import ArrayType, ScalarType, Signature, Type
from tinytorch_gpu.errors import KernelTypeError
from tinytorch_gpu.executor.conversion import cast
from tinytorch_gpu.memory import DeviceArray, elements_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["best_signature", "convert_arguments", "is_signature", "read_signature"]


def is_signature(value: Any) -> bool:
    """Tell whether `cuda.jit` takes the value for a signature.

    Example:
        >>> is_signature("void(float32[:])"), is_signature(len)
        (True, False)
    """
    return isinstance(from_numba(value), (str, tuple, Signature))


def read_signature(given: Any) -> Signature:
    """Read one signature.

    Args:
        given: text, a tuple of types, or a `Signature`.

    Returns:
        The signature; `return_type` is None when it is not told.

    Raises:
        KernelTypeError: it is none.

    Example:
        >>> read_signature("void(float32[:], int32)")
        void(float32[:], int32)
        >>> read_signature("(f4[:,::1], i8)").args
        (float32[:,::1], int64)
    """
    found = _evaluate_text(given) if isinstance(given, str) else from_numba(given)
    if isinstance(found, Signature):
        return found
    if isinstance(found, tuple) and all(isinstance(part, Type) for part in found):
        return Signature(found, None)
    raise _no_signature(given)


def _evaluate_text(text: str) -> Any:
    try:
        tree = ast.parse(text, mode="eval").body
    except SyntaxError:
        raise _no_signature(text) from None
    return _evaluate(tree, text)


def _evaluate(node: ast.AST, text: str) -> Any:
    """Evaluate a name, a call, a subscript of slices or a tuple; nothing else."""
    if isinstance(node, ast.Name) and node.id in types.__all__:
        return getattr(types, node.id)
    if isinstance(node, ast.Tuple):
        return tuple(_evaluate(part, text) for part in node.elts)
    if isinstance(node, ast.Call) and not node.keywords:
        result, arguments = _evaluate(node.func, text), node.args
        if isinstance(result, Type):
            return result(*(_evaluate(argument, text) for argument in arguments))
    if isinstance(node, ast.Subscript):
        element = _evaluate(node.value, text)
        if isinstance(element, ScalarType):
            return element[_evaluate(node.slice, text)]
    if isinstance(node, ast.Slice) and node.lower is node.upper is None:
        is_unit = isinstance(node.step, ast.Constant) and node.step.value == 1
        return slice(None, None, 1 if is_unit else None)
    raise _no_signature(text)


def convert_arguments(
    kernel: str, signatures: Sequence[Signature], arguments: tuple[Any, ...]
) -> tuple[Any, ...]:
    """Convert a launch's arguments to the signature that fits them best.

    Args:
        kernel: name of the kernel, for the error.
        signatures: what the kernel was declared with.
        arguments: the launch's arguments.

    Returns:
        The arguments; numbers are NumPy scalars of the declared types, integers wrap.

    Raises:
        KernelTypeError: they fit no signature.

    Example:
        >>> convert_arguments("k", [read_signature("(i1, f4)")], (300, 1))
        (np.int8(44), np.float32(1.0))
    """
    best = best_signature(signatures, arguments, _accepts)
    if best is None:
        raise _no_match(kernel, signatures, arguments)
    return tuple(map(_converted, best.args, arguments))


def best_signature(
    signatures: Sequence[Signature],
    values: Sequence[Any],
    accepts: Callable[[Type, Any], bool],
) -> Signature | None:
    """Choose the signature that loses least; of equals, the first.

    Args:
        signatures: what a function was declared with.
        values: numbers and arrays, one for each argument.
        accepts: tells whether a declared type takes a value.

    Returns:
        The signature, or None when none fits.

    Example:
        >>> both = [read_signature("(i4,)"), read_signature("(f8,)")]
        >>> best_signature(both, [0.5], lambda declared, value: True)
        (float64)
    """
    fitting = [
        signature
        for signature in signatures
        if len(signature.args) == len(values)
        and all(map(accepts, signature.args, values))
    ]
    return min(fitting, key=lambda s: _losses(s, values), default=None)


def _accepts(declared: Type, argument: Any) -> bool:
    argument = getattr(argument, "value", argument)  # In, Out and InOut
    if isinstance(declared, ArrayType):
        return _accepts_array(declared, argument)
    if not isinstance(declared, ScalarType):
        return argument is None
    if isinstance(argument, (bool, int, np.bool_, np.integer)):
        return True
    is_float = isinstance(argument, (float, np.floating))
    return is_float and declared.dtype.kind == "f"


def _accepts_array(declared: ArrayType, argument: Any) -> bool:
    if not isinstance(argument, (np.ndarray, DeviceArray)):
        return False
    elements = elements_of(argument) if isinstance(argument, DeviceArray) else argument
    has_layout = {
        "A": True,
        "C": elements.flags.c_contiguous,
        "F": elements.flags.f_contiguous,
    }[declared.layout]
    kind = (argument.ndim, argument.dtype)
    return has_layout and kind == (declared.ndim, declared.element.dtype)


def _losses(signature: Signature, arguments: Sequence[Any]) -> tuple[int, int]:
    """Count the conversions that may lose something, and all conversions."""
    pairs = [
        (_dtype_of(argument), declared.dtype)
        for declared, argument in zip(signature.args, arguments, strict=True)
        if isinstance(declared, ScalarType)
    ]
    lossy = sum(not np.can_cast(given, to) for given, to in pairs)
    return lossy, sum(given != to for given, to in pairs)


def _dtype_of(argument: Any) -> np.dtype[Any]:
    """Return the dtype of a number: bool, int64 or float64 for Python's."""
    return np.dtype(argument.dtype if hasattr(argument, "dtype") else type(argument))


def _converted(declared: Type, argument: Any) -> Any:
    if not isinstance(declared, ScalarType):
        return argument
    if isinstance(argument, int) and not isinstance(argument, bool):
        is_float = declared.dtype.kind == "f"
        low_bits = argument % 2**64  # what C keeps of an integer
        argument = np.float64(argument) if is_float else np.uint64(low_bits)
    return cast(np.asarray(argument)[()], declared.dtype)


def _no_signature(given: Any) -> KernelTypeError:
    return KernelTypeError(
        f"{given!r} is no signature",
        where="@cuda.jit(...)",
        why="a signature is result(parameters) or (parameters,), made of type names",
        fix='write for example @cuda.jit("void(float32[:], int32)")',
    )


def _no_match(
    kernel: str, signatures: Sequence[Signature], arguments: tuple[Any, ...]
) -> KernelTypeError:
    given = ", ".join(map(_told, arguments))
    return KernelTypeError(
        f"{kernel}({given}) fits no signature of the kernel",
        where=f"launch of {kernel}",
        why="declared: " + "\n".join(map(repr, signatures)),
        fix="convert the arguments, for example array.astype(np.float32) or int(n);\n"
        "or drop the signature: @cuda.jit takes the types from the arguments",
    )


def _told(argument: Any) -> str:
    argument = getattr(argument, "value", argument)
    if isinstance(argument, (np.ndarray, DeviceArray)):
        return f"{argument.dtype}[{','.join([':'] * argument.ndim)}]"
    return type(argument).__name__
