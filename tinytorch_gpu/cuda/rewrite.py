"""From a kernel's source and argument types to a `LaneProgram`.

Order of work: `KernelText` finds the text, `Names` tells local from frozen names,
`desugar` leaves one kind of loop, `CallTypes` finds all types, `separate_versions`
tells variables of several types apart, `StatementWriter` writes two programs (plain and
counted), `control_sources` finds what steers the kernel. Nothing runs here.
"""

from __future__ import annotations

import itertools
import linecache
import weakref
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.cuda.desugar import desugar
from tinytorch_gpu.cuda.dummies import key_of
from tinytorch_gpu.cuda.fold import fold
from tinytorch_gpu.cuda.infer_calls import CallTypes
from tinytorch_gpu.cuda.kernel_source import KernelText
from tinytorch_gpu.cuda.names import NOT_STATIC, Names
from tinytorch_gpu.cuda.options import DEFAULT, Options
from tinytorch_gpu.cuda.program import DeviceProgram
from tinytorch_gpu.cuda.prune import prune
from tinytorch_gpu.cuda.registers import Registers
from tinytorch_gpu.cuda.rewrite_dependence import DATA, control_sources
from tinytorch_gpu.cuda.rewrite_statements import StatementWriter
from tinytorch_gpu.cuda.spelling import copied
from tinytorch_gpu.cuda.versions import convert, separate_versions
from tinytorch_gpu.executor.arithmetic import (
    BINARY,
    COMPARE,
    UNARY,
    and_then,
    or_else,
    select,
    truth,
)
from tinytorch_gpu.executor.barrier import arrive
from tinytorch_gpu.executor.control import RangeLoop, WhileLoop
from tinytorch_gpu.executor.defined import check_defined, now_defined
from tinytorch_gpu.executor.engine import LINES, LaneProgram
from tinytorch_gpu.executor.global_memory import global_array
from tinytorch_gpu.executor.indexing import get_attribute, load, store
from tinytorch_gpu.executor.lanes import UNDEFINED
from tinytorch_gpu.executor.local_memory import local_array
from tinytorch_gpu.executor.parting import SPOTS
from tinytorch_gpu.executor.printing import (
    kernel_assert,
    kernel_divisor,
    kernel_print,
    kernel_raise,
)
from tinytorch_gpu.executor.shared_memory import shared_array
from tinytorch_gpu.memory import DeviceArray

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable
    from types import FunctionType

    from tinytorch_gpu.cuda.captured import Captured

__all__ = ["KernelFunction"]

RUNTIME: dict[str, Any] = {
    **BINARY,
    **COMPARE,
    **UNARY,
    "RangeLoop": RangeLoop,
    "UNDEFINED": UNDEFINED,
    "WhileLoop": WhileLoop,
    "and_then": and_then,
    "arrive": arrive,
    "attribute": get_attribute,
    "check_defined": check_defined,
    "convert": convert,
    "global_array": global_array,
    "kernel_assert": kernel_assert,
    "kernel_divisor": kernel_divisor,
    "kernel_print": kernel_print,
    "kernel_raise": kernel_raise,
    "load": load,
    "local_array": local_array,
    "now_defined": now_defined,
    "or_else": or_else,
    "select": select,
    "shared_array": shared_array,
    "store": store,
    "truth": truth,
}
_numbers = itertools.count(1)
_gone: list[str] = []  # programs that were collected; their text is still in linecache


class KernelFunction:
    """A Python function that becomes lane programs, one for each list of types.

    Args:
        function: the decorated Python function.
        function_of: gives for a call's target the `KernelFunction` behind it, or None.
        options: of `cuda.jit`: what is checked, and registers.
    """

    def __init__(
        self,
        function: FunctionType,
        function_of: Callable[[Any], KernelFunction | None],
        *,
        options: Options = DEFAULT,
    ) -> None:
        self.function = function
        self._function_of = function_of
        self._options = options
        self._programs: dict[str, DeviceProgram] = {}
        self._frozen: dict[int, Any] = {}  # host arrays, as they first were
        self.captured: dict[LaneProgram, tuple[Captured, ...]] = {}

    @cached_property
    def text(self) -> KernelText:
        """The source.

        Raises:
            KernelSyntaxError: it cannot be read, or is no plain function.
        """
        return KernelText(self.function)

    @property
    def parameters(self) -> ast.arguments:
        """The parameters, with their defaults as constants."""
        return self.text.parameters

    @cached_property
    def _tree(self) -> ast.FunctionDef:
        tree = copied(self.text.tree)
        fold(tree, Names(self.function, tree))
        return desugar(tree, Names(self.function, tree))

    def kernel_program(self, dummies: list[Any]) -> LaneProgram:
        """Return the lane program of a kernel for these types of arguments.

        Args:
            dummies: one for each parameter.

        Raises:
            KernelSyntaxError: a construct is outside the kernel language; says where.
            KernelTypeError: types do not fit; says where.
        """
        typed = self._typed(dummies, None)
        plain, writer = self._compiled(*typed, is_counted=False, is_kernel=True)
        counted, _ = self._compiled(*typed, is_counted=True, is_kernel=True)
        control, _ = _steered(writer)
        registers = Registers.of(self._options, typed[2].values(), writer.local_bytes)
        lane_program = LaneProgram(
            source=self.text.source,
            parameters=writer.names.parameters,
            plain=plain,
            counted=counted,
            is_resumable=writer.is_resumable,
            is_cooperative=writer.is_cooperative,
            local_bytes=writer.local_bytes,
            is_data_dependent=DATA in control,
            control_parameters=control - {DATA},
            shared=tuple(writer.arrays),
            text="\n".join(writer.lines),
            registers=registers.number,
            are_registers_given=registers.are_given,
        )
        self.captured[lane_program] = _captured(writer)
        return lane_program

    def device_program(self, dummies: list[Any]) -> DeviceProgram:
        """Return the program of a device function for these types of arguments.

        A recursive call finds it half filled.

        Args:
            dummies: one for each parameter.

        Raises:
            KernelSyntaxError: a construct is outside the kernel language; says where.
            KernelTypeError: types do not fit; says where.
        """
        key = key_of(tuple(dummies))
        if key not in self._programs:
            names = tuple(argument.arg for argument in self.parameters.args)
            program = self._programs[key] = DeviceProgram(self.text.name, names)
            try:
                self._fill(program, dummies)
            except BaseException:
                del self._programs[key]
                raise
        return self._programs[key]

    def _fill(self, program: DeviceProgram, dummies: list[Any]) -> None:
        typed = self._typed(dummies, program)
        plain, writer = self._compiled(*typed, is_counted=False, is_kernel=False)
        counted, _ = self._compiled(*typed, is_counted=True, is_kernel=False)
        if writer.is_recursive and writer.is_resumable:
            raise self.text.syntax_error(
                self.text.tree,
                "a recursive function with a barrier",
                "put the barrier into the kernel, or write the recursion as a loop",
            )
        program.control, program.value_sources = _steered(writer)
        program.is_resumable = writer.is_resumable
        program.is_cooperative = writer.is_cooperative
        program.arrays, program.has_arrays = writer.arrays, writer.has_arrays
        program.local_bytes = writer.local_bytes
        program.captured = _captured(writer)
        program.plain, program.counted = plain, counted

    def _typed(
        self, dummies: list[Any], program: DeviceProgram | None
    ) -> tuple[ast.FunctionDef, Names, dict[str, Any]]:
        """Return a tree with versions apart, its names, its variables' dummies."""
        tree = copied(self._tree)
        line = self.text.line_of(self.text.tree)
        names = Names(self.function, tree, self._frozen, line)
        parameters = dict(zip(names.parameters, dummies, strict=True))
        types = CallTypes(
            self.text,
            names,
            parameters,
            function_of=self._function_of,
            program=program,
        )
        with np.errstate(all="ignore"):
            types.infer(tree)
        variables = separate_versions(tree, types)
        prune(tree)
        written = Names(self.function, tree, self._frozen, line)
        written.captured |= names.captured
        return tree, written, variables

    def _compiled(
        self,
        tree: ast.FunctionDef,
        names: Names,
        variables: dict[str, Any],
        *,
        is_counted: bool,
        is_kernel: bool,
    ) -> tuple[Callable[..., Any], StatementWriter]:
        """Write and compile one program; note which line came from which."""
        writer = StatementWriter(
            self.text,
            names,
            tree,
            variables,
            is_counted=is_counted,
            is_kernel=is_kernel,
            is_debug=self._options.is_debug,
        )
        name = f"{self.text.tree.name}_lanes"
        program = writer.program(name)
        file = f"<lane program {next(_numbers)} of {self.text.name}>"
        lines = program.splitlines(keepends=True)
        while _gone:
            linecache.cache.pop(_gone.pop(), None)
        linecache.cache[file] = (len(program), None, lines, file)
        namespace = {**RUNTIME, **writer.constants, LINES: writer.line_sources}
        namespace[SPOTS] = writer.line_spots
        exec(compile(program, file, "exec"), namespace)  # noqa: S102  (our own text)
        # Not out of linecache at once: it may be walking over its entries just then.
        weakref.finalize(namespace[name], _gone.append, file)
        return namespace[name], writer


def _captured(writer: StatementWriter) -> tuple[Captured, ...]:
    """Return the names that a program and those it calls found outside, each once."""
    found = (*writer.called, *writer.names.captured.values())
    return tuple({captured.key: captured for captured in found}.values())


def _steered(writer: StatementWriter) -> tuple[frozenset[str], frozenset[str]]:
    """Return what steers a program, and what its value depends on."""
    static = writer.names.static

    def is_memory(node: ast.expr) -> bool:
        value = static(node)
        return value is NOT_STATIC or isinstance(value, (np.ndarray, DeviceArray))

    return control_sources(writer.tree, writer.is_pure, is_memory, static)
