"""`python -m tinytorch_gpu.as_numba [--gpu NAME] [-m MODULE | SCRIPT] ARGUMENTS...`."""

from __future__ import annotations

import argparse
import sys

from tinytorch_gpu.as_numba.run import add_program, prepare, run_program
from tinytorch_gpu.errors import GPUNotFoundError, SimGPUError


def main() -> int:
    """Run the program of the command line with our `numba.cuda`.

    Returns:
        0, 2 for a GPU that no preset has, or 1 after another error before it begins.
    """
    parser = argparse.ArgumentParser(
        "python -m tinytorch_gpu.as_numba",
        description="Run a program whose numba.cuda is the simulated GPU.",
    )
    add_program(parser)
    options = parser.parse_args()
    try:
        prepare(options, as_numba=True)
    except SimGPUError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)  # noqa: T201
        return 2 if isinstance(error, GPUNotFoundError) else 1
    run_program(options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
