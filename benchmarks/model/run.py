"""Print published numbers beside modelled ones, as Markdown tables.

    python benchmarks/model/run.py

Nothing is measured here: "modelled" is what the model of time says of a GPU that this
machine need not have. The tables are those that the model's constants were checked
against while it was made.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import l1_strides
import offset_stride
import sgemm


def main() -> None:
    """Print the tables."""
    _print_products()
    _print_copies()
    _print_strides()


def _print_products() -> None:
    products = sgemm.rows()
    print(f"## O1: product of {sgemm.N}³ on {sgemm.GPU}, Gflop/s\n")
    print("| kernel | published | modelled | ratio | step | modelled step | bound |")
    print("|---|---|---|---|---|---|---|")
    before = products[0]
    for row in products:
        step, ours = row.published / before.published, row.modelled / before.modelled
        print(
            f"| {row.name} | {row.published:.0f} | {row.modelled:.0f} | "
            f"{row.modelled / row.published:.2f} | {step:.2f} | {ours:.2f} | "
            f"{row.bound} |"
        )
        before = row


def _print_copies() -> None:
    print("\n## O2: copies, share of the aligned copy's bandwidth\n")
    print(
        "Offset rows compare with what was published. Stride rows compare the rule of"
    )
    print(
        "each GPU, worked out by hand, with the counts that the model makes of a run:"
    )
    print("nobody published numbers for them.\n")
    print("| GPU | pattern | source | told | modelled | ratio |")
    print("|---|---|---|---|---|---|")
    for copy in offset_stride.rows():
        print(
            f"| {copy.gpu} | {copy.pattern} | {copy.source} | {copy.rule:.3f} | "
            f"{copy.modelled:.3f} | {copy.modelled / copy.rule:.2f} |"
        )


def _print_strides() -> None:
    print("\n## O3: loads that hit L1, for each request of a warp\n")
    print(
        "Clocks: published and modelled. Passes over the banks and wavefronts of tags:"
    )
    print("counted by the hardware, and by the rules.\n")
    print("| GPU | stride | clocks | modelled | ratio | passes | ours | tags | ours |")
    print("|---|---|---|---|---|---|---|---|---|")
    for row in l1_strides.rows():
        print(
            f"| {row.gpu} | {row.stride} | {row.published:.2f} | {row.modelled:.2f} | "
            f"{row.modelled / row.published:.2f} | {row.published_passes} | "
            f"{row.passes:.0f} | {row.published_tags:.2f} | {row.tags:.2f} |"
        )


if __name__ == "__main__":
    main()
