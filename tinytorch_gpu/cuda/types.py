"""Type names of numba.cuda: scalars, arrays of them, and signatures.

A scalar type serves three ends: as a dtype (`shared.array(64, float32)`), as a cast in
kernels and on the host (`float32(x)`), and as a part of a signature
(`void(float32[:], int32)`).

Source: numba.cuda 0.30.4, `numba.cuda.types` (names and widths).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tinytorch_gpu.errors import KernelTypeError

__all__ = [
    "ArrayType",
    "NoneType",
    "ScalarType",
    "Signature",
    "Type",
    "b1",
    "bool_",
    "boolean",
    "byte",
    "char",
    "double",
    "f2",
    "f4",
    "f8",
    "float16",
    "float32",
    "float64",
    "i1",
    "i2",
    "i4",
    "i8",
    "int8",
    "int16",
    "int32",
    "int64",
    "int_",
    "intc",
    "intp",
    "long_",
    "longlong",
    "none",
    "short",
    "size_t",
    "ssize_t",
    "u1",
    "u2",
    "u4",
    "u8",
    "uchar",
    "uint",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "uintc",
    "uintp",
    "ulong",
    "ulonglong",
    "ushort",
    "void",
]


class Type:
    """A type that a signature may name."""

    def __call__(self, *arguments: Any) -> Any:
        """Return the signature with this result: `void(float32[:], int32)`.

        Args:
            *arguments: types of the parameters.

        Raises:
            KernelTypeError: an argument is no type.

        Example:
            >>> void(float32[:], int32)
            void(float32[:], int32)
        """
        for argument in arguments:
            if not isinstance(argument, Type):
                raise _no_type(argument)
        return Signature(arguments, self)

    @staticmethod
    def named(name: str) -> Type | None:
        """Return the type that NumPy or numba calls so, or None.

        Example:
            >>> Type.named("int8"), Type.named("bool"), Type.named("complex64")
            (int8, bool, None)
        """
        found = globals().get("boolean" if name == "bool" else name)
        return found if isinstance(found, Type) else None


@dataclass(frozen=True, repr=False)
class NoneType(Type):
    """The type of no value: what a kernel returns."""

    def __repr__(self) -> str:
        """Spell it as a signature does."""
        return "void"


@dataclass(frozen=True, repr=False)
class ScalarType(Type):
    """The type of a number; NumPy takes it wherever it takes a dtype.

    Args:
        dtype: the NumPy dtype of the same width and kind.

    Example:
        >>> float32(0.1), np.empty(2, int16).nbytes
        (np.float32(0.1), 4)
        >>> float32[:, ::1]
        float32[:,::1]
    """

    dtype: np.dtype[Any]

    @property
    def name(self) -> str:
        """The type's name, for example `float32`; a boolean is `bool`."""
        return self.dtype.name

    @property
    def bitwidth(self) -> int:
        """Bits of a value."""
        return 8 * self.dtype.itemsize

    def __call__(self, *arguments: Any) -> Any:
        """Cast a value on the host, or return a signature with this result.

        Args:
            *arguments: one value (a number or an array), or types.

        Returns:
            A NumPy scalar or array of the dtype; of types, the `Signature`.

        Raises:
            KernelTypeError: there are several values, or values among types.
            OverflowError: a Python integer does not fit.

        Example:
            >>> int32(3.7), int32(float32, float32)
            (np.int32(3), int32(float32, float32))
        """
        if len(arguments) == 1 and not isinstance(arguments[0], Type):
            return self.dtype.type(arguments[0])
        return super().__call__(*arguments)

    def __getitem__(self, key: Any) -> ArrayType:
        """Return the type of an array: `[:]`, `[:, :]`, `[:, ::1]`, `[::1, :]`.

        Args:
            key: one slice for each axis; `::1` last is C order, first Fortran order.

        Raises:
            KeyError: the key is no such slice.
        """
        axes = key if isinstance(key, tuple) else (key,)
        for axis in axes:
            if not isinstance(axis, slice) or (axis.start, axis.stop) != (None, None):
                message = (
                    f"{self.name}[{axis!r}]: the type of an array is spelled with "
                    "empty slices, for example float32[:, :] or float32[:, ::1]"
                )
                raise KeyError(message)
        return ArrayType(self, len(axes), _layout(axes))

    def __repr__(self) -> str:
        """Return the name."""
        return self.name


@dataclass(frozen=True, repr=False)
class ArrayType(Type):
    """The type of an array.

    Args:
        element: type of an element.
        ndim: number of axes.
        layout: "C" or "F" for contiguous in that order, "A" for any.
    """

    element: ScalarType
    ndim: int
    layout: str

    def __repr__(self) -> str:
        """Spell it as a signature does."""
        axes = [":"] * self.ndim
        if self.layout != "A":
            axes[-1 if self.layout == "C" else 0] = "::1"
        return f"{self.element}[{','.join(axes)}]"


@dataclass(frozen=True, repr=False)
class Signature:
    """Types of a function's parameters and of its result.

    Args:
        args: types of the parameters.
        return_type: type of the result; None when it is not told.
    """

    args: tuple[Type, ...]
    return_type: Type | None

    def __repr__(self) -> str:
        """Spell it as it is written."""
        result = "" if self.return_type is None else repr(self.return_type)
        return f"{result}({', '.join(map(repr, self.args))})"


def _layout(axes: tuple[slice, ...]) -> str:
    """Return C when the last axis is `::1`, F when the first one is, else A."""
    if axes[-1].step == 1:
        return "C"
    return "F" if axes[0].step == 1 else "A"


def _no_type(argument: Any) -> KernelTypeError:
    return KernelTypeError(
        f"{argument!r} among the types of a signature",
        where="a signature of @cuda.jit",
        why="a signature holds types: float32, int32[:], ...",
        fix='write for example void(float32[:], int32), or the text "void(f4[:], i4)"',
    )


void = none = NoneType()
boolean = bool_ = b1 = ScalarType(np.dtype("bool"))
int8 = i1 = char = ScalarType(np.dtype("int8"))
int16 = i2 = short = ScalarType(np.dtype("int16"))
int32 = i4 = intc = ScalarType(np.dtype("int32"))
int64 = i8 = intp = int_ = long_ = longlong = ssize_t = ScalarType(np.dtype("int64"))
uint8 = u1 = uchar = byte = ScalarType(np.dtype("uint8"))
uint16 = u2 = ushort = ScalarType(np.dtype("uint16"))
uint32 = u4 = uintc = ScalarType(np.dtype("uint32"))
uint64 = u8 = uintp = uint = ulong = ulonglong = size_t = ScalarType(np.dtype("uint64"))
float16 = f2 = ScalarType(np.dtype("float16"))
float32 = f4 = ScalarType(np.dtype("float32"))
float64 = f8 = double = ScalarType(np.dtype("float64"))
