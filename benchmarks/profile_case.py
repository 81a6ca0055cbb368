"""Print where the time of one of the seven kernels goes, counters off.

    python benchmarks/profile_case.py "vector add 65,536"

Shares are of the whole, by function, calls of it not included. The profiler makes many
small calls look dearer than they are, so trust the order more than the numbers.
"""

from __future__ import annotations

import cProfile
import sys
from typing import TYPE_CHECKING

from cuda_style import cases

from tinytorch_gpu import settings

if TYPE_CHECKING:
    from types import CodeType

REPEATS = 200
SHOWN = 12


def main(name: str) -> None:
    """Profile repeated launches of the case of this name."""
    by_name = {case.name: case for case in cases(is_tiny=False)}
    if name not in by_name:
        sys.exit("name a case: " + "; ".join(by_name))
    launch = by_name[name].launch
    with settings.override(counters=False):
        launch()
        profiler = cProfile.Profile()
        profiler.enable()
        for _ in range(REPEATS):
            launch()
        profiler.disable()
    rows = sorted(profiler.getstats(), key=lambda row: -row.inlinetime)
    whole = sum(row.inlinetime for row in rows)
    for row in rows[:SHOWN]:
        print(f"{row.inlinetime / whole:6.1%}  {_named(row.code)}")


def _named(code: CodeType | str) -> str:
    """Name a function and its file in the package, or one of NumPy's or Python's."""
    if isinstance(code, str):
        return code
    return f"{code.co_name}  {code.co_filename.rpartition('tinytorch_gpu/')[2]}"


if __name__ == "__main__":
    main(*sys.argv[1:2] or [""])
