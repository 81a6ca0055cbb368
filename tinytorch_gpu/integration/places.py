"""Where the modules of a TinyTorch are: the layouts of its releases, by short name.

Modules moved between releases (`core.transformer` became `core.transformers`, once it
was `models.transformer`). A learner has those that they have reached; one that cannot
be imported yet is told, and stops nothing.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType

__all__ = ["CORE", "find_modules"]

# Autograd comes before all that import it, and before our patches: it patches, too.
CORE = (
    "tensor", "functions", "autograd", "activations", "layers", "losses",
    "dataloader", "optimizers", "training", "spatial", "embeddings", "attention",
    "transformers", "transformer",
)  # fmt: skip
ELSEWHERE = (
    "data.loader", "text.embeddings", "models.transformer", "nn", "optim",
    "perf.acceleration", "perf.compression", "perf.quantization", "perf.memoization",
    "optimization.acceleration", "optimization.compression", "generation.kv_cache",
)  # fmt: skip


def find_modules(core: str) -> tuple[dict[str, ModuleType], dict[str, str]]:
    """Import the modules of a TinyTorch that exist.

    Args:
        core: the package of its `tensor` module, for example `"tinytorch.core"`.

    Returns:
        Modules by short name (`"tensor"`, `"data.loader"`), and for those that are
        there but cannot be imported, why.

    Example:
        >>> modules, unfinished = find_modules("tinytorch_gpu.tinytorch")
        >>> modules["tensor"].__name__, unfinished
        ('tinytorch_gpu.tinytorch.tensor', {})
    """
    root, _, last = core.rpartition(".")
    names = {short: f"{core}.{short}" for short in CORE}
    if last == "core":
        names |= {short: f"{root}.{short}" for short in ELSEWHERE}
    modules: dict[str, ModuleType] = {}
    unfinished: dict[str, str] = {}
    for short, name in names.items():
        if not _exists(name):
            continue
        try:
            modules[short] = importlib.import_module(name)
        except (Exception, SystemExit) as error:  # noqa: BLE001  (half-written code)
            unfinished[short] = f"{type(error).__name__}: {error}".split("\n")[0]
    return modules, unfinished


def _exists(name: str) -> bool:
    """Tell whether a module can be found; importing its parents may fail."""
    if name in sys.modules:
        return True
    try:
        return importlib.util.find_spec(name) is not None
    except (Exception, SystemExit):  # noqa: BLE001  (a parent is the learner's, too)
        return False
