"""The corpus of the sanitizer: small kernels with one seeded fault each, or with none.

`@faulty(kind, ...)` and `@clean(...)` stand above a `@cuda.jit` kernel and say how it
is launched; its docstring names the fault, or why there is none. The line at fault
ends in `# fault`; of a race, the other access's line ends in `# other` (without
one, both accesses stand on the line at fault). A fault that no single line has is
not marked.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tinytorch_gpu import cuda, settings

# kind: tool and level
KINDS = {
    "out_of_bounds": ("memcheck", "error"),
    "negative_index": ("memcheck", "warning"),
    "use_after_free": ("memcheck", "error"),
    "uninitialized_read": ("initcheck", "error"),
    "undefined_variable": ("initcheck", "error"),
    "race": ("racecheck", "error"),
    "implicit_warp_synchrony": ("racecheck", "warning"),
    "order_dependence": ("racecheck", "warning"),
    "divergent_barrier": ("synccheck", "error"),
    "barrier_after_return": ("synccheck", "warning"),
    "warp_mask": ("synccheck", "error"),
    "divergent_warp": ("synccheck", "error"),
    "deadlock": ("synccheck", "error"),
    "endless_loop": ("synccheck", "error"),
    "narrowing_loss": ("numcheck", "warning"),
    "conversion_out_of_range": ("numcheck", "warning"),
    "division_by_zero": ("numcheck", "warning"),
    "shift_count": ("numcheck", "warning"),
    "float64_arithmetic": ("numcheck", "note"),
}


@dataclass(frozen=True)
class Case:
    """One kernel with its launch, and what the sanitizer has to say about it.

    Args:
        kernel: what is launched.
        launch: grid, block and, if need be, stream and dynamic shared bytes.
        arguments: NumPy arrays (copied to the device), factories (called), or numbers.
        run: called with the kernel instead of a launch, by cases that launch more.
        parts: further kernels and device functions in which marked lines stand.
        changes: settings for the run.
        options: of `simgpu.sanitize`.
        kind: the finding's kind; "" for a clean case.
        thread: (x, y, z) that is at fault; of a race, on either side.
        block: (x, y, z) of a block at fault; of a race, on either side.
        array: the array's name in the kernel, or "" where it does not matter.
        space: the array's memory, or "" where it does not matter.
        hazard: of a race, or "" where several hazards are right.
        also: kinds of findings that the fault brings along.
    """

    kernel: Any
    launch: tuple[Any, ...] = (1, 32)
    arguments: tuple[Any, ...] = ()
    run: Callable[[Any], None] | None = None
    parts: tuple[Any, ...] = ()
    changes: dict[str, Any] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    kind: str = ""
    thread: tuple[int, int, int] | None = None
    block: tuple[int, int, int] | None = None
    array: str = ""
    space: str = ""
    hazard: str = ""
    also: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The kernel's name."""
        return str(self.kernel.py_func.__name__)

    @property
    def tool(self) -> str:
        """The tool that has to find the fault."""
        return KINDS[self.kind][0]

    @property
    def level(self) -> str:
        """The level that the finding has to have."""
        return KINDS[self.kind][1]

    @property
    def lines(self) -> set[int]:
        """Numbers of the marked lines: one, two of a race, or none."""
        return {*self.marked("# fault"), *self.marked("# other")}

    def marked(self, mark: str) -> list[int]:
        """Return the numbers of the lines that end in a mark."""
        found = []
        for part in (self.kernel, *self.parts):
            lines, first = inspect.getsourcelines(part.py_func)
            ends = (line.rstrip().endswith(mark) for line in lines)
            found += [first + k for k, marks in enumerate(ends) if marks]
        return found

    def play(self) -> list[np.ndarray]:
        """Launch the kernel on fresh arguments; return its arrays afterwards."""
        with settings.override(**self.changes):
            if self.run is not None:
                self.run(self.kernel)
                return []
            made = [_made(argument) for argument in self.arguments]
            self.kernel[self.launch](*made)
        return [a.copy_to_host() for a in made if hasattr(a, "copy_to_host")]


def _made(argument: Any) -> Any:
    if isinstance(argument, np.ndarray):
        return cuda.to_device(argument)
    return argument() if callable(argument) else argument


FAULTY: list[Case] = []
CLEAN: list[Case] = []


def faulty(kind: str, **facts: Any) -> Callable[[Any], Any]:
    """Enter the kernel below as one with a fault of this kind; takes `Case`'s fields."""

    def enter(kernel: Any) -> Any:
        FAULTY.append(Case(kernel, kind=kind, **facts))
        return kernel

    return enter


def clean(**facts: Any) -> Callable[[Any], Any]:
    """Enter the kernel below as a correct one; takes `Case`'s fields."""

    def enter(kernel: Any) -> Any:
        CLEAN.append(Case(kernel, **facts))
        return kernel

    return enter


def floats(*shape: int) -> np.ndarray:
    """Return small float32 numbers, all different: 1, 2, 3, ..."""
    return np.arange(1, np.prod(shape) + 1, dtype=np.float32).reshape(shape)


def ints(*shape: int) -> np.ndarray:
    """Return int32 numbers, all different: 1, 2, 3, ..."""
    return np.arange(1, np.prod(shape) + 1, dtype=np.int32).reshape(shape)


def zeros(*shape: int, dtype: Any = np.float32) -> np.ndarray:
    """Return an array that is initialised, with zeros."""
    return np.zeros(shape, dtype)


def unwritten(*shape: int, dtype: Any = np.float32) -> Callable[[], Any]:
    """Return a factory of device memory that nothing has written."""
    return lambda: cuda.device_array(shape, dtype)
