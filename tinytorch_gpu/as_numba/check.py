"""`simgpu check`: run a program while the sanitizer watches, and print the report."""

from __future__ import annotations

import json
import sys
import traceback
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.as_numba.run import run_program
from tinytorch_gpu.memory.origin import PACKAGE
from tinytorch_gpu.runtime.sanitize import sanitize

if TYPE_CHECKING:
    import argparse
    from pathlib import Path
    from types import TracebackType

    from tinytorch_gpu.sanitizer import SanitizerReport

__all__ = ["check_program"]


def check_program(options: argparse.Namespace) -> int:
    """Run the program, print the report, then the program's own exception.

    Args:
        options: those of the command line: a program, `leak_check`, `schedule`,
            `seeds`, `json`.

    Returns:
        1 if there are errors or the program raised, 130 after Ctrl-C, else 0.

    Raises:
        SystemExit: the program ended itself, and there are no errors.
    """
    choices: dict[str, Any] = {"leak_check": options.leak_check, "seeds": options.seeds}
    if options.schedule:
        choices["schedule"] = options.schedule
    raised: BaseException | None = None
    try:
        with sanitize(show=False, **choices) as report:
            run_program(options)
    except BaseException as error:  # noqa: BLE001  (told after the report)
        raised = error
    _tell(report, options.json)
    if isinstance(raised, SystemExit):
        if not report.errors:
            raise raised
        if not isinstance(raised.code, int | None):
            print(raised.code, file=sys.stderr)  # noqa: T201  (as Python does)
    elif raised is not None:
        sys.stdout.flush()
        traceback.print_exception(type(raised), raised, _own(raised.__traceback__))
        return 130 if isinstance(raised, KeyboardInterrupt) else 1
    return 1 if report.errors else 0


def _tell(report: SanitizerReport, file: Path | None) -> None:
    print(f"\n{report}")  # noqa: T201
    if file is not None:
        file.write_text(_json(report.to_dict()) + "\n")


def _json(value: Any, margin: str = "\n") -> str:
    """Write a line for each fact: a finding's threads may be hundreds."""
    inner = f"{margin}  "
    if isinstance(value, dict) and value:
        facts = (f"{json.dumps(name)}: {_json(v, inner)}" for name, v in value.items())
        return "{" + inner + f",{inner}".join(facts) + margin + "}"
    if isinstance(value, list) and value and isinstance(value[0], dict):
        parts = (_json(part, inner) for part in value)
        return "[" + inner + f",{inner}".join(parts) + margin + "]"
    return json.dumps(value)


def _own(trace: TracebackType | None) -> TracebackType | None:
    """Leave out the calls that lead to the program, as Python does."""
    first = trace
    while first is not None:
        file = first.tb_frame.f_code.co_filename
        if not file.startswith(PACKAGE) and "runpy" not in file:
            return first
        first = first.tb_next
    return trace
