"""How a window slides over an image: kernel size, stride, padding, dilation.

Comes in: what a convolution or a pooling was given, one number or a pair (y, x). Goes
out: a `Window` of pairs, and the length of the output. Rule: PyTorch's `Conv2d`, shape
section: (n + 2 padding - dilation (size - 1) - 1) // stride + 1.
"""

from __future__ import annotations

from typing import NamedTuple

from tinytorch_gpu.errors import ShapeError

__all__ = ["Window", "pair_of", "window_of"]

Pair = tuple[int, int]
PairOrInt = int | tuple[int, ...]


class Window(NamedTuple):
    """A window's measures in elements, each (y, x).

    Args:
        size: rows and columns that it takes.
        stride: from one output to the next.
        padding: rows and columns added on each side.
        dilation: from one element of the window to the next.
    """

    size: Pair
    stride: Pair
    padding: Pair
    dilation: Pair

    def output(self, op: str, image: Pair) -> Pair:
        """Return rows and columns of the output.

        Args:
            op: the op's name, for errors.
            image: rows and columns of the input.

        Raises:
            ShapeError: the window is larger than the padded image.

        Example:
            >>> Window((3, 3), (2, 2), (1, 1), (1, 1)).output("conv2d", (8, 7))
            (4, 4)
        """
        room = [n + 2 * p for n, p in zip(image, self.padding, strict=True)]
        reach = [d * (k - 1) + 1 for d, k in zip(self.dilation, self.size, strict=True)]
        if min(room) < 1 or room[0] < reach[0] or room[1] < reach[1]:
            raise ShapeError(
                f"{op}: a window of {reach} on an image of {room}, padding included",
                where=f"tinytorch::{op}, image {image}, {self}",
                why="a window lies within the padded image",
                fix="pad more, take a smaller window, or a larger image",
                shapes=(tuple(room), tuple(reach)),
            )
        rows, columns = (
            (n - r) // s + 1 for n, r, s in zip(room, reach, self.stride, strict=True)
        )
        return rows, columns


def window_of(
    op: str,
    size: PairOrInt,
    stride: PairOrInt | None = None,
    padding: PairOrInt = 0,
    dilation: PairOrInt = 1,
) -> Window:
    """Make a window of numbers or pairs.

    Args:
        op: the op's name, for errors.
        size: of the window.
        stride: that of the window if None, so that windows touch.
        padding: on each side.
        dilation: 1 takes neighbours.

    Raises:
        ShapeError: a number is too small, or a tuple is no pair.

    Example:
        >>> window_of("max_pool2d", 2)
        Window(size=(2, 2), stride=(2, 2), padding=(0, 0), dilation=(1, 1))
    """
    return Window(
        pair_of(op, "kernel_size", size, 1),
        pair_of(op, "stride", size if stride is None else stride, 1),
        pair_of(op, "padding", padding, 0),
        pair_of(op, "dilation", dilation, 1),
    )


def pair_of(op: str, name: str, value: PairOrInt, least: int) -> Pair:
    """Return (y, x) of one number or a pair.

    Raises:
        ShapeError: a number is below `least`, or it is no pair.

    Example:
        >>> pair_of("conv2d", "stride", 2, least=1)
        (2, 2)
    """
    pair = tuple(value) if isinstance(value, (tuple, list)) else (value, value)
    if len(pair) != 2 or min(pair) < least:
        raise ShapeError(
            f"{op}: {name}={value}",
            where=f"tinytorch::{op}",
            why=f"{name} is one number or (rows, columns), each at least {least}",
            fix=f"pass for example {name}={max(1, least)}",
        )
    return int(pair[0]), int(pair[1])
