"""The second TinyTorch: classes that a module's own notebook defines in `__main__`.

In module 01's notebook `Tensor` is a second class, in `__main__`, beside the exported
one. It gets the device as the package does.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.integration.detect import generation_of

if TYPE_CHECKING:
    from tinytorch_gpu.integration.detect import TinyTorch

__all__ = ["notebook_of"]


def notebook_of(found: TinyTorch) -> TinyTorch | None:
    """Return what `__main__` defines of a TinyTorch, None if it is a plain script.

    It counts as a module's notebook when it defines a `Tensor` that keeps a NumPy array
    in `.data`. A script that only uses TinyTorch keeps its classes as they are, so that
    a constant that it makes on the CPU is refused, as in PyTorch.

    Args:
        found: the package, whose other modules the notebook imports.
    """
    main = sys.modules["__main__"]
    tensor_class: Any = getattr(main, "Tensor", None)
    if not isinstance(tensor_class, type) or tensor_class.__module__ != "__main__":
        return None
    try:
        is_tensor = isinstance(tensor_class([1.0]).data, np.ndarray)
    except Exception:  # noqa: BLE001  (half-written)
        return None
    if not is_tensor:
        return None
    modules = {"tensor": main}
    if hasattr(main, "enable_autograd"):
        modules["autograd"] = main
    path = str(getattr(main, "__file__", "the notebook"))
    return replace(
        found, package="__main__", path=path, generation=generation_of(modules),
        modules=modules, unfinished={},
    )  # fmt: skip
