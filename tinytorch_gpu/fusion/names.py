"""Names of a fused kernel's parameters: those of the function, where they are free."""

from __future__ import annotations

import keyword
import re
from typing import TYPE_CHECKING

from tinytorch_gpu.fusion.rules import ELEMENTWISE, REDUCTIONS

if TYPE_CHECKING:
    from collections.abc import Collection

__all__ = ["RESERVED", "free_name"]

# What the text of a kernel uses itself.
RESERVED = {"n", "k", "i", "row", "col", "tid", "cache", "cuda", "math", "float32"}
RESERVED |= {"block_max", "block_min", "block_sum", "larger", "smaller", "abs", "range"}


def free_name(name: str, taken: Collection[str] = ()) -> str:
    """Return a name that nothing else in the kernel has.

    Args:
        name: what it should be called.
        taken: names of other parameters.

    Example:
        >>> free_name("lr"), free_name("row"), free_name("x", {"x"}), free_name("add_1")
        ('lr', 'row_2', 'x_2', 'add_1_2')
    """
    found, number = name, 2
    joint = "" if _is_op(name) else "_"
    while found in taken or _is_used(found):
        found, number = f"{name}{joint}{number}", number + 1
    return found


def _is_op(name: str) -> bool:
    return name in ELEMENTWISE or name in REDUCTIONS


def _is_used(name: str) -> bool:
    """Tell whether a kernel may use a name itself; variables are `x_i` and `add_1`."""
    stem, _, end = name.rpartition("_")
    is_step = end.isdigit() and _is_op(stem)
    is_element = bool(re.fullmatch(r".+_i", name))
    return name in RESERVED or keyword.iskeyword(name) or is_step or is_element
