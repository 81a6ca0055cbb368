"""Numbers that name a class, or a row of a table: checked by the thread that reads one.

As in PyTorch, a kernel asserts that a target is a class before it uses it. A failing
assertion stops the launch, and what it has written is taken back; the launcher then
tells which number it was. numba checks `assert` in kernels compiled with `debug=True`.
"""

# Kernels are written as students write them, without annotations.
# ruff: noqa: ANN001, ANN201
# mypy: allow-untyped-defs, no-check-untyped-defs

from __future__ import annotations

import traceback
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import float32
from tinytorch_gpu.errors import KernelRaisedError, OutOfBoundsError
from tinytorch_gpu.memory import elements_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tinytorch_gpu.memory import DeviceArray

__all__ = ["checked", "is_number_of"]


@cuda.jit(device=True)
def is_number_of(value, count):
    """Tell whether a value is a whole number from 0 to count - 1."""
    whole = int(value)
    return 0 <= whole < count and float32(value) == float32(whole)


@contextmanager
def checked(
    op: str, numbers: DeviceArray, count: int, names: str, things: str
) -> Iterator[None]:
    """Tell which number was none, when a kernel's assertion fails in the `with` block.

    Args:
        op: the op's name.
        numbers: what the kernel asserts something of.
        count: how many there are.
        names: what the numbers are, for example "targets".
        things: what it numbers, for example "classes".

    Raises:
        OutOfBoundsError: a number is not whole, below 0, or not below the count.
    """
    try:
        yield
    except KernelRaisedError as error:
        values = elements_of(numbers).reshape(-1)
        wrong = ~np.isin(values, np.arange(count))
        if not wrong.any():
            raise
        places = np.flatnonzero(wrong)
        value = values[places[0]].item()
        told = np.format_float_positional(values[places[0]], trim="-")
        more = f", and {places.size - 1} more of them" if places.size > 1 else ""
        raise OutOfBoundsError(
            f"{op}: {told} is none of {count} {things}",
            where=f"{error.where}\nin {_file_of(error)}\n"
            f"{names}: number {places[0]} of {values.size}{more}",
            why=f"{names} are whole numbers from 0 to {count - 1}; nothing was changed",
            fix=f"look at the {names}, np.unique({names}.cpu().numpy()), or make more "
            f"{things}",
            op=op,
            index=value,
            place=int(places[0]),
            kernel=error.facts.get("kernel"),
            line=error.facts.get("line"),
            file=_file_of(error),
        ) from None


def _file_of(error: KernelRaisedError) -> str:
    """Return the file of the launcher that `checked` stands in: the kernel's, too."""
    launcher = traceback.extract_tb(error.__traceback__)[1]  # [0] is `checked` itself
    return f"tinytorch_gpu/kernels/{Path(launcher.filename).name}"
