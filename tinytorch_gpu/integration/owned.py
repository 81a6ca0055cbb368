"""Which device arrays are somebody's already: a Tensor made of one gets a copy.

TinyTorch's constructor copies what it is given. On the device a copy of each result
would be a launch more for each op; only who keeps an array could tell the difference.
So the data of Tensors is noted, and what a script hands to the constructor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

if TYPE_CHECKING:
    from tinytorch_gpu.memory import DeviceArray

__all__ = ["claim", "is_owned", "let_go"]

_owned: WeakValueDictionary[int, DeviceArray] = WeakValueDictionary()


def claim(array: DeviceArray) -> None:
    """Note that somebody keeps an array.

    Args:
        array: a device array; one that nobody keeps any more is forgotten.
    """
    _owned[id(array)] = array


def let_go(array: DeviceArray) -> None:
    """Let the next Tensor that is made of an array have the array itself.

    Args:
        array: a device array.
    """
    _owned.pop(id(array), None)


def is_owned(array: DeviceArray) -> bool:
    """Tell whether somebody keeps an array.

    Args:
        array: a device array.
    """
    return id(array) in _owned
