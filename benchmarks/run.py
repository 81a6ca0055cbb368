"""Measure the whole table in one run and print it as Markdown.

    python benchmarks/run.py [--numba-python PATH] [--json PATH] [--seconds 0.5]

Seven kernels on ours and, where `--numba-python` names an interpreter that has numba, on
numba's own simulator: one process each, all pinned to the same CPU, which is the
simulator's best case. Then the figures of ours alone, on all CPUs.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
Row = dict[str, Any]
WAYS = ("counted", "replayed", "off")


def lines_of(command: list[str], environment: dict[str, str], cpu: int | None) -> list[Row]:
    """Run a program of this folder, pinned to a CPU if one is given; read its lines."""
    pin = "import os, runpy, sys; sys.argv.pop(0); sys.path[0] = sys.argv[1]; "
    if cpu is not None:
        pin += f"os.sched_setaffinity(0, {{{cpu}}}); "
    return []


if __name__ == "__main__":
    pass
