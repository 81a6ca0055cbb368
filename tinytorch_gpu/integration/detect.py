"""Which TinyTorch is there: the learner's own, or the embedded one.

Nothing is concluded from version numbers: the modules themselves are looked at.
Generation B (September 2026 on) has `Function.apply` as a classmethod in `core.tensor`.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tinytorch_gpu import tinytorch as embedded
from tinytorch_gpu.errors import InstallError, UnsupportedError

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["TinyTorch", "detect"]

MODULES = (
    "tensor",
    "functions",
    "operators",
    "activations",
    "layers",
    "losses",
    "autograd",
    "dataloader",
    "optimizers",
    "training",
    "spatial",
    "embeddings",
    "attention",
    "transformers",
)


@dataclass(frozen=True)
class TinyTorch:
    """A TinyTorch that was found.

    Args:
        package: where its modules are, for example `tinytorch.core`.
        path: the file of its tensor module.
        generation: "B".
        modules: those that could be imported, by short name.
    """

    package: str
    path: str
    generation: str
    modules: dict[str, ModuleType]

    @property
    def tensor_class(self) -> Any:
        """The learner's `Tensor`."""
        return self.modules["tensor"].Tensor

    @property
    def function_class(self) -> Any:
        """The learner's `Function`."""
        return self.modules["tensor"].Function

    def __str__(self) -> str:
        """Tell what was found, in one line."""
        return (
            f"TinyTorch generation {self.generation} at {self.path}; "
            f"modules: {', '.join(self.modules)}"
        )


def detect(package: str | None = None) -> TinyTorch:
    """Find a TinyTorch.

    Args:
        package: where its modules are (`"tinytorch.core"`); None looks for an installed
            TinyTorch and takes the embedded one if there is none.

    Returns:
        What was found.

    Raises:
        InstallError: the package has no tensor module with a Tensor class.
        UnsupportedError: it is of a generation that the device cannot be added to yet.
    """
    name = package or ("tinytorch.core" if _is_there() else embedded.__name__)
    try:
        modules = {m: importlib.import_module(f"{name}.{m}") for m in _present(name)}
        tensor = modules["tensor"]
        tensor.Tensor  # noqa: B018  (an unfinished module has none)
    except (ImportError, KeyError, AttributeError) as error:
        raise InstallError(
            f"no TinyTorch in the package {name!r}",
            where=f"import {name}.tensor: {error}",
            why="the device is added to a Tensor class, and none was found there",
            fix="export module 01 first (tito module complete 01), or use the embedded "
            "core:\nfrom tinytorch_gpu.tinytorch import Tensor",
            package=name,
        ) from error
    _check_generation(tensor)
    return TinyTorch(name, str(tensor.__file__), "B", modules)


def _is_there() -> bool:
    """Tell whether a package `tinytorch` with a tensor module can be imported."""
    try:
        return importlib.util.find_spec("tinytorch.core.tensor") is not None
    except ImportError:
        return False


def _present(package: str) -> list[str]:
    """Return the modules that exist; autograd's patches come before ours."""
    return [m for m in MODULES if importlib.util.find_spec(f"{package}.{m}")]


def _check_generation(tensor: ModuleType) -> None:
    function = getattr(tensor, "Function", None)
    apply = inspect.getattr_static(function, "apply", None) if function else None
    if isinstance(apply, classmethod):
        return
    raise UnsupportedError(
        "this TinyTorch is of generation A (before September 2026)",
        where=str(tensor.__file__),
        why="its tensor module has no Function.apply classmethod, which every op uses",
        fix="update TinyTorch, or take the embedded core:\n"
        "from tinytorch_gpu.tinytorch import Tensor",
    )
