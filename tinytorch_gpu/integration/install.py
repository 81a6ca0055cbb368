"""`install` and `uninstall`: add the device to a TinyTorch, and take it away again."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tinytorch_gpu import tinytorch as embedded
from tinytorch_gpu.integration.detect import TinyTorch, detect
from tinytorch_gpu.integration.numpy_proxy import numpy_proxy
from tinytorch_gpu.integration.ops import op_name, patch_functions, patch_optimizers
from tinytorch_gpu.integration.patches import Patches
from tinytorch_gpu.integration.tensor import patch_layers, patch_tensor
from tinytorch_gpu.library import registered
from tinytorch_gpu.runtime import use_gpu

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tinytorch_gpu.arch import GpuSpec

__all__ = ["Installation", "install", "installed", "uninstall"]


@dataclass(frozen=True)
class Installation:
    """What `install` found and did.

    Args:
        tinytorch: the TinyTorch that has the device now.
        gpu: the GPU that is modelled.
    """

    tinytorch: TinyTorch
    gpu: GpuSpec
    patches: Patches = field(repr=False)

    @property
    def ops_with_kernels(self) -> tuple[str, ...]:
        """Ops of this TinyTorch that a kernel serves."""
        return tuple(op for op in self._ops() if f"tinytorch::{op}" in registered())

    @property
    def decomposed_ops(self) -> tuple[str, ...]:
        """Ops of this TinyTorch whose own NumPy code becomes further ops."""
        return tuple(op for op in self._ops() if f"tinytorch::{op}" not in registered())

    def _ops(self) -> list[str]:
        classes = self.tinytorch.function_class.__subclasses__()
        own = [c for c in classes if c.__module__.startswith(self.tinytorch.package)]
        return sorted(op_name(c.__name__) for c in own)

    def __str__(self) -> str:
        """Tell in a few lines what was found and which ops have kernels."""
        return (
            f"simgpu models a {self.gpu.name}\n{self.tinytorch}\n"
            f"ops with kernels: {', '.join(self.ops_with_kernels)}\n"
            f"ops that decompose: {', '.join(self.decomposed_ops)}"
        )


_current: list[Installation] = []


def install(gpu: str | GpuSpec = "t4", package: str | None = None) -> Installation:
    """Add the device `simgpu` to a TinyTorch; calling it again changes the GPU.

    The embedded core gets it as well, whichever TinyTorch is found.

    Args:
        gpu: the GPU to model: a preset's name or a `GpuSpec`.
        package: where TinyTorch's modules are, for example `"tinytorch.core"`; None
            takes an installed TinyTorch, else the embedded one.

    Returns:
        What was found and which ops have kernels; print it.

    Raises:
        GPUNotFoundError: no preset has that name.
        InstallError: the package holds no TinyTorch.
        UnsupportedError: it is of a generation that cannot get the device yet.
        OutOfMemoryError: live arrays do not fit into that GPU.
    """
    found = detect(package)
    device = use_gpu(gpu)
    if _current and _current[0].tinytorch.package != found.package:
        uninstall()
    patches = _current.pop().patches if _current else _patched(found)
    _current.append(Installation(found, device.spec, patches))
    return _current[0]


def uninstall() -> None:
    """Put every attribute of the TinyTorch back as it was."""
    while _current:
        _current.pop().patches.undo()


@contextmanager
def installed(
    gpu: str | GpuSpec = "t4", package: str | None = None
) -> Iterator[Installation]:
    """Install within a `with` block; afterwards all is as it was before.

    Args:
        gpu: as in `install`.
        package: as in `install`.
    """
    before = _current[0] if _current else None
    try:
        yield install(gpu, package)
    finally:
        if before is None:
            uninstall()
        else:
            install(before.gpu, before.tinytorch.package)


def _patched(found: TinyTorch) -> Patches:
    """Change the TinyTorch and the embedded core; on an error put everything back."""
    patches = Patches()
    core = detect(embedded.__name__)
    try:
        for one in {found.package: found, core.package: core}.values():
            _patch(patches, one)
    except BaseException:
        patches.undo()
        raise
    return patches


def _patch(patches: Patches, found: TinyTorch) -> None:
    """Add the device to one TinyTorch."""
    proxy = numpy_proxy()
    for module in found.modules.values():
        if "np" in vars(module):
            patches.set(module, "np", proxy)
    patch_tensor(patches, found)
    patch_layers(patches, found)
    patch_functions(patches, found)
    patch_optimizers(patches, found)
