"""Which TinyTorch is there: the learner's own, or the embedded one.

Nothing is concluded from version numbers: the modules themselves are looked at, since a
learner may be anywhere between module 01 and 20 and may have edited what is there.

- Generation B (0.1.13 on, September 2026): `Function.apply` is a classmethod in
  `core.tensor`, and every op goes through it.
- Generation A (0.1.0 to 0.1.10): `enable_autograd()` wraps the methods of `Tensor`, and
  `Function.apply` is the gradient rule. A0 keeps modules outside of `core`, A1 has them
  all in `core`, A2's `Tensor` learns of `requires_grad` when autograd is enabled.
"""

from __future__ import annotations

import importlib.util
import inspect
from dataclasses import dataclass, field
from types import FunctionType
from typing import TYPE_CHECKING, Any

from tinytorch_gpu import tinytorch as embedded
from tinytorch_gpu.errors import InstallError
from tinytorch_gpu.integration.lookalikes import check_is_tinytorch
from tinytorch_gpu.integration.places import find_modules

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["TinyTorch", "detect", "generation_of", "is_recording"]


@dataclass(frozen=True)
class TinyTorch:
    """A TinyTorch that was found.

    Args:
        package: where its modules are, for example `tinytorch.core`.
        path: the file of its tensor module.
        generation: "A0", "A1", "A2" or "B".
        modules: those that could be imported, by short name.
        unfinished: those that could not, and why.
    """

    package: str
    path: str
    generation: str
    modules: dict[str, ModuleType]
    unfinished: dict[str, str] = field(default_factory=dict)

    @property
    def tensor_class(self) -> Any:
        """The learner's `Tensor`."""
        return self.modules["tensor"].Tensor

    @property
    def function_class(self) -> Any:
        """The learner's `Function`; None where autograd is still to come."""
        owner = self.modules.get("tensor" if self.generation == "B" else "autograd")
        return getattr(owner, "Function", None)

    @property
    def module_names(self) -> frozenset[str]:
        """The full names of the modules."""
        return frozenset(module.__name__ for module in self.modules.values())

    def classes(self) -> list[type]:
        """Return every class that one of the modules defines."""
        things = [t for m in self.modules.values() for t in list(vars(m).values())]
        own, names = (t for t in things if isinstance(t, type)), self.module_names
        return list(dict.fromkeys(c for c in own if c.__module__ in names))

    def owner_of(self, class_name: str, method: str) -> type | None:
        """Return the first class of a name if it has a plain method of its own.

        Args:
            class_name: for example `"Tensor"`.
            method: for example `"__add__"`; a static or class method is none.
        """
        owner = next((c for c in self.classes() if c.__name__ == class_name), None)
        own = None if owner is None else vars(owner).get(method)
        return owner if isinstance(own, FunctionType) else None

    def is_recorded(self, *tensors: Any) -> bool:
        """Tell whether an op on these Tensors is recorded for `backward`."""
        needs = any(getattr(tensor, "requires_grad", False) for tensor in tensors)
        return needs and is_recording(self)

    def __str__(self) -> str:
        """Tell what was found, in one line and one for each unfinished module."""
        unfinished = [
            f"\nnot imported: {n} ({why})" for n, why in self.unfinished.items()
        ]
        return (
            f"found TinyTorch at {self.path}, generation {self.generation}, "
            f"modules {', '.join(self.modules)}{''.join(unfinished)}"
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
        UnsupportedError: the package is another library that shares the name.

    Example:
        >>> detect("tinytorch_gpu.tinytorch").generation
        'B'
    """
    name = package or (
        "tinytorch.core" if _is_there("tinytorch") else embedded.__name__
    )
    check_is_tinytorch(name)
    modules, unfinished = find_modules(name)
    tensor = modules.get("tensor")
    if not isinstance(getattr(tensor, "Tensor", None), type):
        raise _no_tensor(name, unfinished.get("tensor", "there is no such module"))
    assert tensor is not None  # noqa: S101  (for mypy: it has a Tensor)
    path = str(getattr(tensor, "__file__", tensor.__name__))
    return TinyTorch(name, path, generation_of(modules), modules, unfinished)


def is_recording(found: TinyTorch) -> bool:
    """Tell whether ops are recorded now: there is autograd, and no `no_grad`."""
    autograd = found.modules.get("autograd")
    is_enabled = getattr(autograd, "is_grad_enabled", lambda: autograd is not None)
    return bool(is_enabled())


def generation_of(modules: dict[str, ModuleType]) -> str:
    """Return the generation of a TinyTorch by what its modules hold.

    Args:
        modules: by short name; at least `"tensor"`.
    """
    tensor = modules["tensor"]
    function = getattr(tensor, "Function", None)
    apply = inspect.getattr_static(function, "apply", None) if function else None
    if isinstance(apply, classmethod):
        return "B"
    if not {"data.loader", "text.embeddings", "models.transformer"}.isdisjoint(modules):
        return "A0"
    return "A2" if _learns_of_gradients_later(tensor.Tensor) else "A1"


def _learns_of_gradients_later(tensor_class: Any) -> bool:
    """Tell whether autograd has wrapped the constructor, or will have to."""
    made = tensor_class.__init__
    if not isinstance(made, FunctionType):  # module 01 is still to come
        return False
    is_wrapped = made.__module__ != tensor_class.__module__
    return is_wrapped or "requires_grad" not in inspect.signature(made).parameters


def _is_there(name: str) -> bool:
    """Tell whether a package of that name can be found."""
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def _no_tensor(name: str, why: str) -> InstallError:
    return InstallError(
        f"no TinyTorch in the package {name!r}",
        where=f"import {name}.tensor: {why}",
        why="the device is added to a Tensor class, and none was found there",
        fix="export module 01 first (tito module complete 01), or use the embedded "
        "core:\nfrom tinytorch_gpu.tinytorch import Tensor",
        package=name,
    )
