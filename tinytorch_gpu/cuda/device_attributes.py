"""`CudaDevice`: the simulated GPU with numba.cuda's attributes, and its context.

Source: numba.cuda 0.30.4 (`Device`, contexts); CUDA Driver API, "Device Management"
(names of attributes).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tinytorch_gpu.runtime.device import current_device, find_device, using_device

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from typing_extensions import Self

    from tinytorch_gpu.arch import GpuSpec
    from tinytorch_gpu.runtime.device import Device

__all__ = ["CudaContext", "CudaDevice", "MemoryInfo"]

_BF16_CAPABILITY = (8, 0)

ATTRIBUTES: dict[str, Callable[[GpuSpec], int]] = {
    "MULTIPROCESSOR_COUNT": lambda spec: spec.num_sms,
    "WARP_SIZE": lambda spec: spec.warp_size,
    "MAX_THREADS_PER_BLOCK": lambda spec: spec.max_threads_per_block,
    "MAX_BLOCK_DIM_X": lambda spec: spec.max_block_dim[0],
    "MAX_BLOCK_DIM_Y": lambda spec: spec.max_block_dim[1],
    "MAX_BLOCK_DIM_Z": lambda spec: spec.max_block_dim[2],
    "MAX_GRID_DIM_X": lambda spec: spec.max_grid_dim[0],
    "MAX_GRID_DIM_Y": lambda spec: spec.max_grid_dim[1],
    "MAX_GRID_DIM_Z": lambda spec: spec.max_grid_dim[2],
    "MAX_SHARED_MEMORY_PER_BLOCK": lambda spec: spec.shared_bytes_per_block,
    "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": lambda spec: spec.shared_bytes_per_sm,
    "MAX_REGISTERS_PER_BLOCK": lambda spec: spec.registers_per_sm,
    "MAX_REGISTERS_PER_MULTIPROCESSOR": lambda spec: spec.registers_per_sm,
    "MAX_THREADS_PER_MULTIPROCESSOR": lambda spec: spec.max_threads_per_sm,
    "MAX_BLOCKS_PER_MULTIPROCESSOR": lambda spec: spec.max_blocks_per_sm,
    "CLOCK_RATE": lambda spec: round(1e6 * spec.clock_ghz),  # kHz
    "L2_CACHE_SIZE": lambda spec: spec.l2_bytes,
    "SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO": lambda spec: (
        spec.fp32_lanes_per_sm // spec.fp64_lanes_per_sm
    ),
    "COMPUTE_CAPABILITY_MAJOR": lambda spec: spec.compute_capability[0],
    "COMPUTE_CAPABILITY_MINOR": lambda spec: spec.compute_capability[1],
    "COOPERATIVE_LAUNCH": lambda _spec: 1,
    "CAN_MAP_HOST_MEMORY": lambda _spec: 1,
    "UNIFIED_ADDRESSING": lambda _spec: 1,
}


_entered: list[AbstractContextManager[Device]] = []  # `with` blocks that are open


class MemoryInfo(NamedTuple):
    """Free and total bytes of the device's memory."""

    free: int
    total: int


class CudaDevice:
    """The simulated GPU as numba describes one; attributes in capitals are CUDA's.

    Args:
        id: number of the device.

    Example:
        >>> device = CudaDevice(0)
        >>> device.name, device.compute_capability, device.WARP_SIZE
        ('Tesla T4', (7, 5), 32)
    """

    def __init__(self, id: int) -> None:  # noqa: A002  (numba's name)
        self.id = id

    @property
    def modelled(self) -> Device:
        """The device that is simulated; ours.

        Raises:
            UnknownDeviceError: it was taken away.
        """
        return find_device(self.id) or current_device()  # a number is never the CPU

    @property
    def name(self) -> str:
        """Name of the GPU that is modelled."""
        return self.modelled.spec.name

    @property
    def compute_capability(self) -> tuple[int, int]:
        """Major and minor."""
        return self.modelled.spec.compute_capability

    @property
    def uuid(self) -> str:
        """An identifier that no real GPU has."""
        return f"GPU-00000000-0000-0000-0000-{self.id:012d}"

    @property
    def supports_float16(self) -> bool:
        """Whether kernels may compute in float16."""
        return True

    @property
    def supports_bfloat16(self) -> bool:
        """Whether the modelled GPU has bfloat16 arithmetic."""
        return self.compute_capability >= _BF16_CAPABILITY

    def get_primary_context(self) -> CudaContext:
        """Return the device's context."""
        return CudaContext(self)

    def reset(self) -> None:
        """Free all device memory; arrays made before cannot be used any more."""
        self.modelled.allocator.free_all("device.reset()")

    def __getattr__(self, name: str) -> int:
        """Return a device attribute by CUDA's name, for example `WARP_SIZE`.

        Raises:
            AttributeError: the model has no such number.
        """
        if name in ATTRIBUTES:
            return ATTRIBUTES[name](self.modelled.spec)
        message = f"the simulated device has no attribute {name!r}"
        raise AttributeError(message)

    def __enter__(self) -> Self:
        """Make the device current, as `with cuda.gpus[0]:`."""
        context = using_device(self.modelled)
        context.__enter__()
        _entered.append(context)
        return self

    def __exit__(self, *_error: object) -> None:
        """Make the device current that was so before."""
        _entered.pop().__exit__(None, None, None)

    def __eq__(self, other: object) -> bool:
        """Tell whether both are the same device."""
        return isinstance(other, CudaDevice) and self.id == other.id

    def __hash__(self) -> int:
        """Hash by number."""
        return hash(self.id)

    def __repr__(self) -> str:
        """Print it as numba does, and that it is simulated."""
        return f"<CUDA device {self.id} '{self.name}' (simulated)>"


class PendingDeallocations:
    """Memory that waits to be freed: none, device memory is freed at once."""

    def clear(self) -> None:
        """Do nothing: nothing waits."""

    def __len__(self) -> int:
        """Return how many pieces wait: 0."""
        return 0


class CudaContext:
    """What a device holds for this process.

    Args:
        device: the device.
    """

    def __init__(self, device: CudaDevice) -> None:
        self.device = device
        self.deallocations = PendingDeallocations()

    def get_memory_info(self) -> MemoryInfo:
        """Return free and total bytes.

        Example:
            >>> info = CudaDevice(0).get_primary_context().get_memory_info()
            >>> info.total - info.free == current_device().allocator.reserved_bytes
            True
        """
        allocator = self.device.modelled.allocator
        return MemoryInfo(allocator.free_bytes, allocator.capacity_bytes)

    def synchronize(self) -> None:
        """Let the host wait until the device has done all its work."""
        self.device.modelled.synchronize()

    def reset(self) -> None:
        """Free all device memory; arrays made before cannot be used any more."""
        self.device.modelled.allocator.free_all("current_context().reset()")
