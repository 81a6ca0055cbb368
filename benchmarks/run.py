"""Measure everything in one run and print it as Markdown tables.

    python benchmarks/run.py [--numba-python PATH] [--json PATH]

Seven kernels on ours and, where `--numba-python` names an interpreter that has numba,
on numba's own simulator; then the figures of ours alone. A process each, all pinned to
one CPU: that is the simulator's best case, and NumPy's BLAS, which would wait for its
other threads whenever the machine has something else to do, uses one thread.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE = Path(__file__).resolve().parent
Row = dict[str, Any]


@contextlib.contextmanager
def one_cpu() -> Iterator[None]:
    """Pin this process, and those it starts, to one CPU, where the system can."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def lines_of(python: str, program: str, *options: str, **variables: str) -> list[Row]:
    """Run a program of this folder and read the JSON lines that it prints."""
    done = subprocess.run(  # noqa: S603  (our own programs)
        [python, str(HERE / program), *options],
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def launches(numba_python: str, options: list[str]) -> list[Row]:
    """Time the seven kernels, ours and numba's."""
    rows = lines_of(sys.executable, "cuda_style.py", *options)
    if numba_python:
        simulated = {"NUMBA_ENABLE_CUDASIM": "1", "BENCH_CUDA": "numba.cuda"}
        rows += lines_of(numba_python, "cuda_style.py", *options, **simulated)
    return rows


def milliseconds(row: Row) -> str:
    """Return a time with three digits, or whole milliseconds from a second on."""
    value = row["fastest_s"] * 1e3
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def launch_table(rows: list[Row]) -> list[str]:
    """Return the seven kernels as a Markdown table.

    Each cell tells milliseconds, and how many times faster that is than the simulator.
    """
    by_case: dict[str, dict[str, Row]] = {}
    for row in rows:
        by_case.setdefault(row["case"], {})[row["way"]] = row
    ways = list(dict.fromkeys(row["way"] for row in rows))
    lines = [
        "| case, ms a launch | " + " | ".join(ways) + " |",
        "|---" * (len(ways) + 1) + "|",
    ]
    for case, found in by_case.items():
        cells = [milliseconds(found[way]) + _ratio(found, way) for way in ways]
        lines.append(f"| {case} | " + " | ".join(cells) + " |")
    if "simulator" in ways:
        means = [f"{geometric_mean(list(by_case.values()), way):,.0f}×" for way in ways]
        lines.append("| geometric mean of the ratios | " + " | ".join(means) + " |")
    return lines


def _ratio(found: dict[str, Row], way: str) -> str:
    if "simulator" not in found or way == "simulator":
        return ""
    return f" ({found['simulator']['fastest_s'] / found[way]['fastest_s']:,.0f}×)"


def geometric_mean(cases: list[dict[str, Row]], way: str) -> float:
    """Return how many times faster than the simulator a way is, over all cases."""
    ratios = [c["simulator"]["fastest_s"] / c[way]["fastest_s"] for c in cases]
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def figure_table(figures: list[Row]) -> list[str]:
    """Return the figures of ours alone as a Markdown table."""
    lines = ["| figure | measured | aim |", "|---|---|---|"]
    for figure in figures:
        value = f"{figure['value']:,.3g} {figure['unit']}"
        lines.append(f"| {figure['name']} | {value} | {figure['aim']} |")
    return lines


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Measure everything; see the top.")
    parser.add_argument("--numba-python", default="", help="interpreter that has numba")
    parser.add_argument("--json", type=Path, help="write all measured rows here")
    parser.add_argument("--tiny", action="store_true", help="sizes for a quick look")
    options = parser.parse_args()
    passed_on = ["--tiny", "--seconds", "0"] if options.tiny else []
    with one_cpu():
        rows = launches(options.numba_python, passed_on)
        print(*launch_table(rows), "", sep="\n", flush=True)
        figures = lines_of(sys.executable, "figures.py", *passed_on)
        print(*figure_table(figures), sep="\n")
    if options.json:
        everything = {"launches": rows, "figures": figures}
        options.json.write_text(json.dumps(everything, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
