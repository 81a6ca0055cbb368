"""The next token of a text is drawn on the host: NumPy's generators read host memory.

TinyTorch's `generate` takes the last logits, draws a token by NumPy, and joins it to
the text. On a device the logits come to the host by a copy that reports show; the token
goes back when it is joined to the text (see `numpy_proxy`).
"""

from __future__ import annotations

import functools
from functools import partial
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.integration.moving import copied
from tinytorch_gpu.memory import DeviceArray
from tinytorch_gpu.runtime import to_host

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.integration.detect import TinyTorch
    from tinytorch_gpu.integration.patches import Patches

__all__ = ["on_host", "patch_sampling"]

NAMES = ("sample_next_token", "_sample_next_token")


def patch_sampling(patches: Patches, found: TinyTorch) -> None:
    """Let a TinyTorch draw the next token on the host.

    Args:
        patches: where originals are kept.
        found: the TinyTorch to change.
    """
    for owner in (*found.modules.values(), *found.classes()):
        for name in NAMES:
            patches.wrap(owner, name, on_host)


def on_host(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a function of host memory: it gets device arrays as copies.

    Args:
        function: what the copies are logged under is its name.
    """
    name = function.__name__.lstrip("_")

    @functools.wraps(function)
    def wrapper(*args: Any, **options: Any) -> Any:
        named = {key: _copy(value, name) for key, value in options.items()}
        return function(*(_copy(value, name) for value in args), **named)

    return wrapper


def _copy(value: Any, name: str) -> Any:
    if not isinstance(value, DeviceArray):
        return value
    return copied(name, value, partial(to_host, value, name))
