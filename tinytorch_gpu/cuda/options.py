"""Options of `cuda.jit`: which change what a kernel does, and which are refused.

Source: numba.cuda 0.30.4, `cuda.jit` (names, and what it refuses or warns of).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

from tinytorch_gpu.errors import KernelWarning, UnsupportedError

__all__ = ["DEFAULT", "Options", "read_options"]

# They steer numba's compiler; the results of a kernel that is right do not change.
# Simplified: fastmath gives a GPU coarser division and roots, off in the last digits.
IGNORED = frozenset(
    {
        "cache",
        "fastmath",
        "forceinline",
        "inline",
        "lineinfo",
        "lto",
        "opt",
        "shared_memory_carveout",
    }
)
REFUSED = {
    "boundscheck": (
        "the simulator always checks indices, numba.cuda never does",
        "leave it out",
    ),
    "extensions": (
        "an extension prepares arguments for numba's compiler, and none runs here",
        "convert the arguments before the launch",
    ),
    "link": (
        "it names CUDA C++ or PTX to link with, and only Python runs here",
        "write the function in Python, with @cuda.jit(device=True)",
    ),
}
KNOWN = IGNORED | set(REFUSED) | {"debug", "device", "launch_bounds", "max_registers"}


@dataclass(frozen=True)
class Options:
    """The options that change something here.

    Args:
        is_debug: `assert`, `raise` and integer division by zero are checked.
        is_device: a device function.
        launch_bounds: most threads of a block, blocks for each SM, ...; () if not told.
        max_registers: 32-bit registers of a thread; 0 estimates them. numba takes it
            for a limit, the model here for the number.
    """

    is_debug: bool = False
    is_device: bool = False
    launch_bounds: tuple[int, ...] = ()
    max_registers: int = 0


DEFAULT = Options()


def read_options(given: dict[str, Any]) -> Options:
    """Read the options of one `cuda.jit`.

    Args:
        given: names and values; a value that is false or None says nothing.

    Returns:
        The options that change something.

    Raises:
        UnsupportedError: an option is refused, or unknown.

    Example:
        >>> read_options({"debug": True, "opt": False, "launch_bounds": 128})
        Options(is_debug=True, is_device=False, launch_bounds=(128,), max_registers=0)
    """
    for name in sorted(given):
        if name not in KNOWN or (name in REFUSED and given[name]):
            raise _refused(name, given[name])
    _warn_of_contradictions(given)
    bounds = given.get("launch_bounds") or ()
    return Options(
        is_debug=bool(given.get("debug")),
        is_device=bool(given.get("device")),
        launch_bounds=tuple(bounds) if isinstance(bounds, (tuple, list)) else (bounds,),
        max_registers=int(given.get("max_registers") or 0),
    )


def _warn_of_contradictions(given: dict[str, Any]) -> None:
    for name in ("opt", "lineinfo"):
        if given.get("debug") and given.get(name):
            warning = KernelWarning(
                f"debug=True with {name}=True",
                where="@cuda.jit(...)",
                why="numba's debug information does not go with it",
                fix=f"@cuda.jit(debug=True, {name}=False)",
            )
            warnings.warn(warning, stacklevel=4)


def _refused(name: str, value: Any) -> UnsupportedError:
    why, fix = REFUSED.get(
        name,
        (
            "the options are " + ", ".join(sorted(KNOWN - set(REFUSED))),
            "write @cuda.jit above a def",
        ),
    )
    return UnsupportedError(
        f"cuda.jit with {name}={value!r}", where="@cuda.jit(...)", why=why, fix=fix
    )
