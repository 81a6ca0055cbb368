"""From a kernel's source to a `LaneProgram`: parse, write, compile.

Order of work: `KernelText` finds the text, `Names` tells local from frozen names,
`StatementWriter` writes two programs (plain and counted), `control_sources` finds what
steers the kernel. Nothing runs here.
"""

from __future__ import annotations

import itertools
import linecache
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.cuda.kernel_source import KernelText
from tinytorch_gpu.cuda.names import NOT_STATIC, Names
from tinytorch_gpu.cuda.rewrite_dependence import DATA, control_sources
from tinytorch_gpu.cuda.rewrite_statements import StatementWriter
from tinytorch_gpu.executor.arithmetic import (
    BINARY,
    COMPARE,
    UNARY,
    and_then,
    or_else,
    select,
    truth,
)
from tinytorch_gpu.executor.barrier import barrier
from tinytorch_gpu.executor.control import RangeLoop, WhileLoop
from tinytorch_gpu.executor.engine import LaneProgram
from tinytorch_gpu.executor.indexing import get_attribute, load, store, unpack
from tinytorch_gpu.executor.lanes import UNDEFINED
from tinytorch_gpu.executor.shared_memory import shared_array

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable
    from types import FunctionType

    from tinytorch_gpu.trace import SourceLine

__all__ = ["rewrite_device_function", "rewrite_kernel"]

RUNTIME: dict[str, Any] = {
    **BINARY,
    **COMPARE,
    **UNARY,
    "RangeLoop": RangeLoop,
    "UNDEFINED": UNDEFINED,
    "WhileLoop": WhileLoop,
    "and_then": and_then,
    "attribute": get_attribute,
    "barrier": barrier,
    "load": load,
    "or_else": or_else,
    "select": select,
    "shared_array": shared_array,
    "store": store,
    "truth": truth,
    "unpack": unpack,
}
# (lane program, its line) → line of the kernel; of all programs, since kernels call
# device functions.
LINES: dict[tuple[str, int], SourceLine] = {}
_numbers = itertools.count(1)


def rewrite_kernel(function: FunctionType) -> LaneProgram:
    """Return the lane program of a kernel.

    Args:
        function: the decorated Python function.

    Returns:
        Both programs, plain and counted, and what steers them.

    Raises:
        KernelSyntaxError: a construct is outside the kernel language; says where.
    """
    text = KernelText(function)
    names = Names(function, text.tree)
    plain, writer = _compiled(text, names, is_counted=False, is_kernel=True)
    counted, _ = _compiled(text, names, is_counted=True, is_kernel=True)
    control = control_sources(
        text.tree, writer.is_pure, _is_local(names), writer.is_device_call
    )
    return LaneProgram(
        source=text.source,
        parameters=names.parameters,
        plain=plain,
        counted=counted,
        is_resumable=writer.has_barrier,
        is_data_dependent=DATA in control,
        control_parameters=control - {DATA},
        shared=tuple(writer.shared),
        text="\n".join(writer.lines),
        lines=LINES,
    )


def rewrite_device_function(
    function: FunctionType, *, is_counted: bool
) -> tuple[Callable[..., Any], list[Any]]:
    """Return a device function's lane program, and the shared arrays it makes.

    The program is called `program(batch, mask, *arguments)`.

    Raises:
        KernelSyntaxError: a construct is outside the kernel language; says where.
    """
    text = KernelText(function)
    names = Names(function, text.tree)
    program, writer = _compiled(text, names, is_counted=is_counted, is_kernel=False)
    return program, writer.shared


def _compiled(
    text: KernelText,
    names: Names,
    *,
    is_counted: bool,
    is_kernel: bool,
) -> tuple[Callable[..., Any], StatementWriter]:
    """Write and compile one program; note which line came from which."""
    writer = StatementWriter(text, names, is_counted=is_counted, is_kernel=is_kernel)
    name = f"{text.name}_lanes"
    program = writer.program(name)
    file = f"<lane program {next(_numbers)} of {text.name}>"
    linecache.cache[file] = (
        len(program),
        None,
        program.splitlines(keepends=True),
        file,
    )
    for number, source in enumerate(writer.line_sources, start=1):
        LINES[file, number] = source
    namespace = {**RUNTIME, **writer.constants}
    exec(compile(program, file, "exec"), namespace)  # noqa: S102  (our own text)
    return namespace[name], writer


def _is_local(names: Names) -> Callable[[ast.expr], bool]:
    return lambda node: names.static(node) is NOT_STATIC
