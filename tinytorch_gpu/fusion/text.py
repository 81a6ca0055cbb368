"""The text of a fused kernel: a readable `@cuda.jit` function, one line for each op.

It begins with numba's import lines and runs as it is on real hardware. Numbers are
float32, so that no float64 arithmetic slips in. Read `kernel_text` first.
"""

from __future__ import annotations

import math
import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.fusion.rules import ELEMENTWISE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tinytorch_gpu.fusion.graph import Graph, Node

__all__ = [
    "HEADER",
    "assembled",
    "commented",
    "drops_nan_check",
    "element_lines",
    "expression",
    "kernel_text",
    "number_text",
]

HEADER = "from numba import cuda, float32\n"
INDENT = "    "
WIDTH = 88


def kernel_text(name: str, graph: Graph) -> str:
    """Write the kernel of an element-wise graph.

    Args:
        name: the kernel's.
        graph: what it computes, without reductions.

    Returns:
        Python source.

    Example:
        >>> from tinytorch_gpu.fusion.graph import GraphBuilder
        >>> build = GraphBuilder()
        >>> doubled = build.apply("add", build.read("x"), build.read("x"))
        >>> print(kernel_text("double", build.graph([doubled], ["x"], ["out"])))
        from numba import cuda, float32
        <BLANKLINE>
        <BLANKLINE>
        @cuda.jit
        def double(x, out):
            col, row = cuda.grid(2)
            if row < out.shape[0] and col < out.shape[1]:
                x_i = x[row, col]
                add_1 = x_i + x_i
                out[row, col] = add_1
        <BLANKLINE>
    """
    body = ["col, row = cuda.grid(2)"]
    main = graph.stores[-1]
    body += [f"if row < {main}.shape[0] and col < {main}.shape[1]:"]
    numbers = sorted({n for out in graph.outputs for n in graph.needed(out)})
    body += [INDENT + line for line in element_lines(graph, numbers, "row, col")]
    for store, number in zip(graph.stores, graph.outputs, strict=True):
        body += [f"{INDENT}{store}[row, col] = {graph.variable(number)}"]
    return assembled(name, graph, body)


def assembled(name: str, graph: Graph, body: list[str], before: str = "") -> str:
    """Put a kernel's lines below its imports and its parameters.

    Args:
        name: the kernel's.
        graph: supplies the parameters.
        body: lines of the function, not indented.
        before: device functions that it calls.
    """
    parameters = _wrapped(f"def {name}(", graph.parameters)
    lines = "\n".join(INDENT + line for line in body)
    kernel = f"@cuda.jit\n{parameters}\n{lines}\n"
    imports = "import math\n\n" if "math." in before + lines else ""
    return f"{imports}{HEADER}\n\n{before}{kernel}"


def _wrapped(start: str, parameters: Sequence[str]) -> str:
    """Write a `def` line, over several lines if it is long."""
    line = f"{start}{', '.join(parameters)}):"
    if len(line) <= WIDTH:
        return line
    wrapped = textwrap.wrap(", ".join(parameters), WIDTH - len(INDENT))
    return "\n".join([start, *(INDENT + part for part in wrapped), "):"])


def element_lines(graph: Graph, numbers: list[int], index: str) -> list[str]:
    """Write the lines that compute some nodes of one element.

    Args:
        graph: the nodes.
        numbers: which, in order.
        index: what stands in the brackets of arrays.
    """
    lines, told = [], ""
    for number in numbers:
        node, variable = graph.nodes[number], graph.variable(number)
        if node.kind == "read":
            lines.append(f"{variable} = {node.op}[{index}]")
            continue
        line = f"{variable} = {expression(graph, node)}"
        lines.append(commented(line, node.comment if node.comment != told else ""))
        told = node.comment
    return lines


def commented(line: str, comment: str) -> str:
    """Put a comment behind a line, cut to the width of a page.

    Args:
        line: of a kernel.
        comment: the user's line, or "".
    """
    room = WIDTH - 3 * len(INDENT) - len(f"{line}  # ")
    if not comment or room < 20:
        return line
    fits = len(comment) <= room
    return f"{line}  # {comment if fits else comment[: room - 4] + ' ...'}"


def expression(graph: Graph, node: Node) -> str:
    """Write the expression of an element-wise node.

    Args:
        graph: where its operands are.
        node: the node.
    """
    rule = ELEMENTWISE[node.op]
    operands = []
    for place, number in enumerate(node.args):
        operand = graph.nodes[number]
        if operand.kind == "number":
            operands.append(operand.op or number_text(operand.value))
            continue
        stays = rule.keeps_bool and (node.is_bool or place == 0)
        variable = graph.variable(number)
        to_float = operand.is_bool and not stays
        operands.append(f"float32({variable})" if to_float else variable)
    return _template(graph, node).format(*operands)


def _template(graph: Graph, node: Node) -> str:
    """Return the rule's text, or a shorter one for a special case."""
    if node.op == "pow" and _number(graph, node.args[1]) == 2:
        return ELEMENTWISE["square"].text
    if drops_nan_check(graph, node):
        return ELEMENTWISE[node.op].text.replace(" or math.isnan({1})", "")
    if node.op == "copy" and node.is_bool:
        return "{0} != float32(0.0)"
    return ELEMENTWISE[node.op].text


def drops_nan_check(graph: Graph, node: Node) -> bool:
    """Tell whether a maximum or minimum is one with a number, which is no NaN.

    Args:
        graph: where its operands are.
        node: the node.
    """
    is_choice = node.op in ("maximum", "minimum")
    number = _number(graph, node.args[1]) if is_choice else None
    return number is not None and not math.isnan(number)


def _number(graph: Graph, number: int) -> float | None:
    node = graph.nodes[number]
    is_fixed = node.kind == "number" and not node.op
    return float(node.value) if is_fixed else None


def number_text(value: Any) -> str:
    """Write a number as a float32 of a kernel.

    Example:
        >>> number_text(1.702), number_text(2), number_text(float("-inf"))
        ('float32(1.702)', 'float32(2.0)', 'float32(-math.inf)')
    """
    number = np.float32(value)
    if math.isnan(number):
        return "float32(math.nan)"
    if math.isinf(number):
        return f"float32({'-' if number < 0 else ''}math.inf)"
    if 1e-4 <= abs(number) < 1e9 or not number:
        text = np.format_float_positional(number, unique=True, trim="0")
    else:
        text = np.format_float_scientific(number, unique=True, trim="0")
    return f"float32({text})"
