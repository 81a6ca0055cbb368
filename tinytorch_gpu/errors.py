"""Every exception of the package, each told in four parts: what, where, why, fix.

An error carries its facts as attributes (`error.kernel`, `error.threads`, ...), so
that tests and notebooks inspect values instead of matching text. The text is made
in one place, `SimGPUError.__str__`. Each class also derives from the builtin that a
Python reader would catch, so `except IndexError` works too.
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "BarrierDivergenceError",
    "DeadlockError",
    "DeviceMismatchError",
    "DtypeError",
    "DuplicateKernelError",
    "GPUNotFoundError",
    "GpuSpecError",
    "HostAccessError",
    "InstallError",
    "KernelRaisedError",
    "KernelSyntaxError",
    "KernelTypeError",
    "KernelWarning",
    "LaunchConfigError",
    "MissingKernelError",
    "OpNotFoundError",
    "OpRecursionError",
    "OutOfBoundsError",
    "OutOfMemoryError",
    "SanitizerError",
    "SchemaError",
    "SettingsError",
    "ShapeError",
    "SharedMemoryLimitError",
    "SimGPUError",
    "StepBudgetError",
    "TraceFileError",
    "TraceQueryError",
    "UninitializedReadError",
    "UnknownDeviceError",
    "UnsupportedError",
    "UseAfterFreeError",
    "WarpMaskError",
]


class SimGPUError(Exception):
    """Base of every error of tinytorch-gpu.

    Args:
        what: one line; what happened, with the user's own names, shapes and dtypes.
        where: kernel, line and its text, block, threads; may span lines.
        why: the rule that was broken, with both numbers.
        fix: a change that can be typed.
        **facts: become attributes of the error (`error.shape`, `error.threads`, ...).

    Example:
        >>> error = SimGPUError("past the end", why="5 >= 4", fix="guard", index=5)
        >>> print(error)
        past the end
          why    5 >= 4
          fix    guard
        >>> error.index
        5
    """

    def __init__(
        self, what: str, *, where: str = "", why: str = "", fix: str = "", **facts: Any
    ) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.why = why
        self.fix = fix
        self.facts: dict[str, Any] = {}
        self.add_facts(**facts)

    def add_facts(self, **facts: Any) -> None:
        """Add facts that become known as the error passes; those it has stay.

        Args:
            **facts: become attributes of the error.

        Example:
            >>> error = SimGPUError("past the end", line=3)
            >>> error.add_facts(line=7, kernel="add")
            >>> error.facts
            {'line': 3, 'kernel': 'add'}
        """
        self.facts = {**facts, **self.facts}
        self.__dict__.update(self.facts)

    def __str__(self) -> str:
        """Tell the error in its four parts; a part without text is left out."""
        parts = (("where", self.where), ("why", self.why), ("fix", self.fix))
        return "\n".join([self.what, *(_part(n, t) for n, t in parts if t)])

    def __getattr__(self, name: str) -> Any:
        """Answer for a fact that this error was not given."""
        message = f"{type(self).__name__!r} object has no attribute {name!r}"
        raise AttributeError(message)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by parts, so that an error survives processes and notebooks."""
        return _rebuild, (type(self), self.what, self._parts(), self.facts)

    def _parts(self) -> dict[str, str]:
        return {"where": self.where, "why": self.why, "fix": self.fix}


def _part(name: str, text: str) -> str:
    """Indent one part; its further lines stand under the first."""
    return f"  {name:<6} " + text.replace("\n", "\n" + " " * 9)


def _rebuild(
    kind: type[SimGPUError], what: str, parts: dict[str, str], facts: dict[str, Any]
) -> SimGPUError:
    """Make the error again when it is unpickled."""
    return kind(what, **parts, **facts)


class OutOfBoundsError(SimGPUError, IndexError):
    """A lane's index lies outside the array."""


class UninitializedReadError(SimGPUError, NameError):
    """A kernel reads a variable that no lane has assigned."""


class BarrierDivergenceError(SimGPUError, RuntimeError):
    """Some live threads of a block did not come to its barrier."""


class WarpMaskError(SimGPUError, ValueError):
    """The mask of a warp operation does not name the lanes that it has to."""


class StepBudgetError(SimGPUError, RuntimeError):
    """A loop ran longer than `Settings.loop_budget` allows."""


class DeadlockError(SimGPUError, RuntimeError):
    """Lanes wait in a loop for something that nothing can bring about any more."""


class KernelWarning(SimGPUError, UserWarning):  # noqa: N818  (it is a warning)
    """A kernel does what may not work everywhere; issued with `warnings.warn`.

    `warnings.filterwarnings("ignore", category=KernelWarning)` silences it.
    """


class UseAfterFreeError(SimGPUError, RuntimeError):
    """An array is used after its memory was freed."""


class SanitizerError(SimGPUError, RuntimeError):
    """The sanitizer found errors; raised by `SanitizerReport.raise_for_errors`."""


class TraceQueryError(SimGPUError, LookupError):
    """A trace is asked for an array, element, block, thread or line it has not."""


class TraceFileError(SimGPUError, ValueError):
    """A trace's file cannot be read or written."""


class LaunchConfigError(SimGPUError, ValueError):
    """The grid, block or shared memory of a launch is outside the GPU's limits."""


class SharedMemoryLimitError(SimGPUError, ValueError):
    """A block asks for more shared memory than the GPU gives one block."""


class OutOfMemoryError(SimGPUError, MemoryError):
    """An allocation is larger than what is left of the device's memory."""


class HostAccessError(SimGPUError, TypeError):
    """The host tried to read device memory without a copy."""


class DeviceMismatchError(SimGPUError, ValueError):
    """The operands of one op live on different devices."""


class UnknownDeviceError(SimGPUError, ValueError):
    """The device string names no device."""


class GPUNotFoundError(SimGPUError, KeyError):
    """The GPU name is in no preset."""


class GpuSpecError(SimGPUError, ValueError):
    """A number of a GPU on paper is one that no model can compute with."""


class SettingsError(SimGPUError, ValueError):
    """A field of `Settings` was given a value that it does not take."""


class DtypeError(SimGPUError, TypeError):
    """A dtype that device memory or an op does not hold."""


class ShapeError(SimGPUError, ValueError):
    """The shapes of an op's operands do not fit together."""


class MissingKernelError(SimGPUError, NotImplementedError):
    """An op has neither a kernel for the device nor a decomposition."""


class OpNotFoundError(SimGPUError, LookupError):
    """No op of that name is defined."""


class OpRecursionError(SimGPUError, RecursionError):
    """An op's function calls the op again, and so on without end."""


class SchemaError(SimGPUError, ValueError):
    """A schema cannot be read, or a function does not take what it says."""


class DuplicateKernelError(SimGPUError, ValueError):
    """An op is defined twice with different schemas."""


class KernelRaisedError(SimGPUError, RuntimeError):
    """A kernel compiled with `debug=True` failed an assert or raised."""


class KernelSyntaxError(SimGPUError, SyntaxError):
    """A kernel uses a construct outside the kernel language."""

    @property
    def msg(self) -> str:  # type: ignore[override]
        """The whole text: what IPython shows of a SyntaxError."""
        return str(self)


class KernelTypeError(SimGPUError, TypeError):
    """A value in a kernel has a type that the operation does not take."""


class UnsupportedError(SimGPUError, NotImplementedError):
    """The simulator does not do this, and says so instead of pretending."""


class InstallError(SimGPUError, ImportError):
    """No TinyTorch that the device can be added to was found."""
