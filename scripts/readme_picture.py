"""Draw the README's picture: the bill of `simgpu demo`.

python scripts/readme_picture.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

from tinytorch_gpu import profiler
from tinytorch_gpu.demo import run_demo

OUT = Path(__file__).resolve().parent.parent / "docs" / "images" / "bill.png"


def main() -> None:
    """Run the demo with its defaults and save the picture."""
    mpl.use("Agg")
    axes = profiler.plot_bill(run_demo().averages)
    OUT.parent.mkdir(parents=True, exist_ok=True)
    axes.figure.savefig(OUT, dpi=110, bbox_inches="tight")


if __name__ == "__main__":
    main()
