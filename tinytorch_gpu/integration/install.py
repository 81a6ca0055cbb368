"""`install` and `uninstall`: add the device to a TinyTorch, and take it away again."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from tinytorch_gpu import tinytorch as embedded
from tinytorch_gpu.arch import GpuSpec
from tinytorch_gpu.integration.batches import patch_batches
from tinytorch_gpu.integration.checkpoints import patch_checkpoints
from tinytorch_gpu.integration.constants import patch_constants
from tinytorch_gpu.integration.detect import TinyTorch, detect
from tinytorch_gpu.integration.gradient_rules import patch_gradient_rules
from tinytorch_gpu.integration.home import know_library
from tinytorch_gpu.integration.layer_ops import patch_layer_ops
from tinytorch_gpu.integration.layers import patch_layers
from tinytorch_gpu.integration.lookalikes import check_takes_device_arrays
from tinytorch_gpu.integration.notebook import notebook_of
from tinytorch_gpu.integration.numpy_proxy import patch_numpy
from tinytorch_gpu.integration.ops import patch_functions, patch_optimizers
from tinytorch_gpu.integration.patches import Patches
from tinytorch_gpu.integration.sampling import patch_sampling
from tinytorch_gpu.integration.summary import served
from tinytorch_gpu.integration.tensor import patch_tensor
from tinytorch_gpu.integration.tracked import patch_tracked
from tinytorch_gpu.memory import empty
from tinytorch_gpu.runtime import current_device
from tinytorch_gpu.runtime.device import use_gpus

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Installation", "install", "installed", "uninstall"]


@dataclass(frozen=True)
class Installation:
    """What `install` found and did.

    Args:
        tinytorch: the TinyTorch that has the device now.
        gpus: the GPU that each device models.
    """

    tinytorch: TinyTorch
    gpus: tuple[GpuSpec, ...]
    patches: Patches = field(repr=False)

    @property
    def gpu(self) -> GpuSpec:
        """The GPU of `simgpu:0`."""
        return self.gpus[0]

    @property
    def ops_with_kernels(self) -> tuple[str, ...]:
        """Ops of this TinyTorch that a kernel serves."""
        return served(self.tinytorch).by_kernels

    @property
    def decomposed_ops(self) -> tuple[str, ...]:
        """Ops of this TinyTorch whose own NumPy code becomes further ops."""
        return served(self.tinytorch).by_own_code

    def __str__(self) -> str:
        """Tell in a few lines what was found and which ops have kernels."""
        count, names = len(self.gpus), ", ".join(gpu.name for gpu in self.gpus)
        models = f"simgpu models {'a' if count == 1 else f'{count} GPUs:'} {names}"
        found_out = served(self.tinytorch)
        lines = [
            f"these ops have kernels: {', '.join(found_out.by_kernels) or 'none yet'}",
            f"these decompose: {', '.join(found_out.by_own_code) or 'none yet'}",
            *found_out.notes,
        ]
        return "\n".join([models, str(self.tinytorch), *lines])


_current: list[Installation] = []


def install(
    gpu: str | GpuSpec | Sequence[str | GpuSpec] = "t4", package: str | None = None
) -> Installation:
    """Add the device `simgpu` to a TinyTorch; calling it again changes the GPU.

    The embedded core gets it as well, whichever TinyTorch is found.

    Args:
        gpu: the GPU to model: a preset's name or a `GpuSpec`; a list of them gives
            several devices, `simgpu:0`, `simgpu:1` and so on. Memory on devices that
            are no longer there is freed.
        package: where TinyTorch's modules are, for example `"tinytorch.core"`; None
            takes an installed TinyTorch, else the embedded one.

    Returns:
        What was found and which ops have kernels; print it.

    Raises:
        GPUNotFoundError: no preset has that name.
        GpuSpecError: a number of a spec is none that a model can compute with.
        InstallError: the package holds no TinyTorch.
        UnsupportedError: it is another library that shares the name.
        OutOfMemoryError: live arrays do not fit into that GPU.
        UnknownDeviceError: the list of GPUs is empty.
    """
    found = detect(package)
    gpus = use_gpus([gpu] if isinstance(gpu, (str, GpuSpec)) else gpu)
    if _current and not _is_in_place(_current[0], found):
        uninstall()
    patches = _current.pop().patches if _current else _patched(found)
    specs = tuple(device.spec for device in gpus)
    _current.append(Installation(found, specs, patches))
    return _current[0]


def uninstall() -> None:
    """Put every attribute of the TinyTorch back as it was."""
    while _current:
        _current.pop().patches.undo()


@contextmanager
def installed(
    gpu: str | GpuSpec | Sequence[str | GpuSpec] = "t4", package: str | None = None
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
            install(before.gpus, before.tinytorch.package)


def _is_in_place(current: Installation, found: TinyTorch) -> bool:
    """Tell whether nothing has changed: no new modules or classes, no later patches."""
    same = current.tinytorch.modules == found.modules
    patches = current.patches
    return same and patches.are_in_place() and patches.owns(_wanted(found))


def _wanted(found: TinyTorch) -> list[type]:
    """Return the classes to change; a cell that is run again makes new ones."""
    several = _packages(found)
    tensors = [t for one in several if (t := one.tensor_class) in one.classes()]
    classes = [c for one in several for c in one.classes() if "forward" in vars(c)]
    return [*tensors, *classes]


def _packages(found: TinyTorch) -> list[TinyTorch]:
    """Return the TinyTorch, the embedded core, and the notebook that runs, if any."""
    core = detect(embedded.__name__)
    notebook = notebook_of(found)
    several = {found.package: found, core.package: core}
    return [*several.values(), *([notebook] if notebook else [])]


def _patched(found: TinyTorch) -> Patches:
    """Change the TinyTorch and the embedded core; on an error put everything back."""
    patches = Patches()
    try:
        for one in _packages(found):
            _patch(patches, one)
    except BaseException:
        patches.undo()
        raise
    return patches


def _patch(patches: Patches, found: TinyTorch) -> None:
    """Add the device to one TinyTorch."""
    know_library(found.module_names)
    patch_constants(patches)
    for module in found.modules.values():
        is_tensors = module.__name__ == found.tensor_class.__module__
        patch_numpy(patches, module, is_tensors=is_tensors)
    if found.tensor_class.__module__ in found.module_names:
        patch_tensor(patches, found)
        array = empty(current_device().allocator, 1, np.dtype(np.float32))
        check_takes_device_arrays(found.package, found.tensor_class, array)
    patch_layers(patches, found)
    if found.generation == "B":
        patch_functions(patches, found)
    else:
        patch_tracked(patches, found)
        patch_layer_ops(patches, found)
        patch_gradient_rules(patches, found)
    patch_optimizers(patches, found)
    patch_checkpoints(patches, found)
    patch_batches(patches, found)
    patch_sampling(patches, found)
