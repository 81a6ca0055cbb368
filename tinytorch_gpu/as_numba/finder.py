"""How `import numba.cuda` finds the stand-in: a finder before all others.

Modules under `numba.cuda` come from `tables`, whether numba is installed or not. Where
it is not, `numba` itself comes from `minimal`.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from typing import TYPE_CHECKING

from tinytorch_gpu.as_numba.host_access import allow_host_access
from tinytorch_gpu.as_numba.minimal import NUMBA_MODULES
from tinytorch_gpu.as_numba.stand_in import MissingModuleError, StandIn
from tinytorch_gpu.as_numba.tables import CUDA_MODULES
from tinytorch_gpu.errors import InstallError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType

__all__ = ["activate", "is_active"]

ROOT = "numba.cuda"
_PARTS = {"numba": NUMBA_MODULES, ROOT: CUDA_MODULES}


class StandInFinder(MetaPathFinder, Loader):
    """Finds and makes the modules that stand in.

    Args:
        has_numba: numba is installed; only `numba.cuda` is ours then.
    """

    def __init__(self, *, has_numba: bool) -> None:
        self.has_numba = has_numba
        self.modules = CUDA_MODULES if has_numba else NUMBA_MODULES | CUDA_MODULES

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """Answer for our modules; leave others to the finders after this one.

        Raises:
            MissingModuleError: a module beside ours that must not come from elsewhere.
        """
        del path, target
        if fullname in self.modules:
            return ModuleSpec(fullname, self, is_package=True)
        owned = ROOT if self.has_numba else "numba"
        if fullname.startswith(owned + "."):
            raise MissingModuleError(fullname)
        return None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Make the module of a spec."""
        return StandIn(spec.name, *self.modules[spec.name])

    def exec_module(self, module: ModuleType) -> None:
        """Import the parts of `numba` or `numba.cuda` with it, as numba does."""
        for name in _PARTS.get(module.__name__, ()):
            importlib.import_module(name)


def activate() -> None:
    """Make `numba.cuda` this package's `cuda` for the rest of the process.

    Call it before anything imports `numba.cuda`; calling it again changes nothing.

    Raises:
        InstallError: numba's own `numba.cuda` is imported already.
    """
    if is_active():
        return
    if ROOT in sys.modules:
        raise InstallError(
            "numba's own numba.cuda is imported already",
            where="tinytorch_gpu.as_numba.activate()",
            why="what was imported from it would go on using it",
            fix="activate first, or run: python -m tinytorch_gpu.as_numba script.py",
        )
    has_numba = importlib.util.find_spec("numba") is not None
    sys.meta_path.insert(0, StandInFinder(has_numba=has_numba))
    allow_host_access()


def is_active() -> bool:
    """Tell whether `numba.cuda` is the stand-in.

    Example:
        >>> is_active()
        False
    """
    return any(isinstance(finder, StandInFinder) for finder in sys.meta_path)
