"""Launches over images (N, C, H, W): one thread for each element of the output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tinytorch_gpu.errors import ShapeError
from tinytorch_gpu.kernels.copying import fill
from tinytorch_gpu.kernels.layout import MAX_GRID_YZ, configuration

if TYPE_CHECKING:
    from tinytorch_gpu.memory import DeviceArray

__all__ = ["check_images", "launch_images"]


def launch_images(
    kernel: Any, arguments: tuple[Any, ...], out: DeviceArray
) -> DeviceArray:
    """Launch `kernel(*arguments, out)`: one thread for each element of out.

    Args:
        kernel: finds its element by `place, channel, image = cuda.grid(3)`.
        arguments: the first is an array of as many images; more images than a grid
            holds along z, 65,535 blocks, take one launch each.
        out: device array (N, C, places) or (N, C, H, W).

    Returns:
        `out`, zeros if there is nothing to sum.
    """
    if not out.size:
        return out
    if not arguments[0].size:
        return fill(out, 0)
    places = out.size // (out.shape[0] * out.shape[1])
    for first in range(0, out.shape[0], MAX_GRID_YZ):
        last = first + MAX_GRID_YZ
        given = [_images(a, out.shape[0], first, last) for a in arguments]
        part = out[first:last]
        grid, block = configuration(places, out.shape[1], part.shape[0])
        kernel[grid, block](*given, part)
    return out


def _images(value: Any, images: int, first: int, last: int) -> Any:
    """Cut what has one entry for each image; leave weights, pairs and numbers."""
    is_images = images > MAX_GRID_YZ and getattr(value, "shape", (0,))[0] == images
    return value[first:last] if is_images else value


def check_images(op: str, x: DeviceArray) -> None:
    """Refuse what is not (N, C, H, W).

    Raises:
        ShapeError: there are not four axes.
    """
    if x.ndim != 4:
        raise ShapeError(
            f"{op}: an operand of shape {x.shape}",
            where=f"tinytorch::{op}",
            why="images are (N, C, H, W): batch, channels, rows, columns",
            fix="reshape it, for example x.reshape(1, 1, *x.shape) for one grey image",
            shape=x.shape,
        )
