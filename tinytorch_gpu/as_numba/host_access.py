"""Device arrays that the host may read as it does numba's: each time by a copy.

Elsewhere `np.asarray` of a device array is an error, since the copy that it hides is
what learners should see. Programs written for numba rely on `DeviceNDArray.__array__`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tinytorch_gpu.memory import DeviceArray

__all__ = ["allow_host_access"]


def allow_host_access() -> None:
    """Let NumPy take device arrays for the rest of the process, copying them.

    Limits: operators on device arrays then compute on the host, and give host arrays.
    """
    DeviceArray.__array__ = _copied  # type: ignore[assignment, method-assign]
    for protocol in ("__array_ufunc__", "__array_function__"):
        if protocol in vars(DeviceArray):
            delattr(DeviceArray, protocol)


def _copied(
    self: DeviceArray, dtype: npt.DTypeLike | None = None, copy: bool | None = None
) -> npt.NDArray[Any]:
    """Copy all elements to the host (D2H)."""
    del copy  # it always is one
    return np.asarray(self.copy_to_host(), dtype)
