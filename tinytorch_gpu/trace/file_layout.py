"""The layout of a trace's file: names, fields and bounds that writer and reader share.

A file is a zip of `trace.json` and NumPy arrays: `steps.npy` has a row for each step,
the others hold columns of all steps, one after another, a file for each dtype.
`docs/reference/trace.md` tells every field.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tinytorch_gpu.arch import DEVICE_DTYPES

if TYPE_CHECKING:
    import numpy as np

__all__ = [
    "COLUMNS",
    "DTYPES",
    "FIELDS",
    "FORMAT",
    "HEADER",
    "STEPS",
    "VERSION",
    "ColumnPlace",
    "npy_header",
    "pool_file",
]

FORMAT = "simgpu-trace"
VERSION = 1
HEADER = "trace.json"
STEPS = "steps.npy"
DTYPES = tuple(dtype.name for dtype in DEVICE_DTYPES)
COLUMNS = ("lanes", "flat", "value", "taken", "members")
FIELDS = ("kind", "line", "expression", "name", "where", "array", "shift")
"""Fields of a step before its columns; of each column come the four of ColumnPlace."""


class ColumnPlace(NamedTuple):
    """Where a step's column lies.

    Args:
        dtype: number in `DTYPES`; -1 for a column that the step does not have.
        start: its first element in the file of that dtype.
        rows: 0 for a scalar.
        columns: likewise.
    """

    dtype: int = -1
    start: int = 0
    rows: int = 0
    columns: int = 0

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.rows * self.columns or 1


def pool_file(dtype: str) -> str:
    """Return the name of the file that holds the columns of a dtype.

    Example:
        >>> pool_file("int32")
        'columns/int32.npy'
    """
    return f"columns/{dtype}.npy"


def npy_header(dtype: np.dtype[Any], shape: tuple[int, ...]) -> bytes:
    r"""Return the bytes before an array's data in a .npy file.

    A reader that knows dtype and shape compares them, and parses nothing.

    Example:
        >>> import numpy as np
        >>> header = npy_header(np.dtype("int32"), (7,))
        >>> len(header) % 64, header[:8]
        (0, b'\x93NUMPY\x01\x00')

    Source: NumPy documentation, "numpy.lib.format", format version 1.0.
    """
    told = f"{{'descr': {dtype.str!r}, 'fortran_order': False, 'shape': {shape}, }}"
    length = -(-(len(told) + 11) // 64) * 64 - 10
    padded = told.ljust(length - 1).encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + length.to_bytes(2, "little") + padded
