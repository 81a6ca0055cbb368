"""`Graph`: what a fused kernel computes, as nodes that a writer turns into lines.

Comes in: a group, or the steps of a gradient. Goes out: nodes in an order in which each
stands after its operands. Equal nodes are one: `x + 1` twice is one line.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

__all__ = ["FULL", "ROW", "Graph", "GraphBuilder", "Node"]

FULL, ROW = "full", "row"


@dataclass(frozen=True)
class Node:
    """One value of a fused kernel: of each element, or of each row.

    Args:
        kind: `read`, `number`, `apply` or `reduce`.
        op: the op; of a read the parameter's name.
        args: the operands' numbers.
        level: `FULL` for a value of each element, `ROW` for one of each row.
        is_bool: the value is bool, else float32.
        value: of a number.
        text: how a number is written: 0.0 and -0.0 are equal, and are two.
        comment: the user's line that it comes from.
    """

    kind: str
    op: str
    args: tuple[int, ...] = ()
    level: str = FULL
    is_bool: bool = False
    value: Any = None
    text: str = ""
    comment: str = field(default="", compare=False)


@dataclass(frozen=True)
class Graph:
    """What a kernel computes.

    Args:
        nodes: each after its operands.
        outputs: numbers of the nodes that are stored; the last one is the main output.
        names: parameters that are read, in order.
        stores: parameters that are written, one for each output.
        numbers: parameters that are numbers, in order, after those that are read.
    """

    nodes: tuple[Node, ...]
    outputs: tuple[int, ...]
    names: tuple[str, ...]
    stores: tuple[str, ...]
    numbers: tuple[str, ...] = ()

    @property
    def parameters(self) -> tuple[str, ...]:
        """Return all parameters of the kernel."""
        return *self.names, *self.numbers, *self.stores

    @property
    def has_rows(self) -> bool:
        """Tell whether a block works on a row."""
        return any(node.kind == "reduce" for node in self.nodes)

    def needed(self, number: int) -> list[int]:
        """Return the full nodes that a node is made of, in order, itself last.

        Args:
            number: of the node.
        """
        found: set[int] = set()
        stack = [number]
        while stack:
            at = stack.pop()
            node = self.nodes[at]
            if at in found or node.level == ROW or node.kind == "number":
                continue
            found.add(at)
            stack += node.args if node.kind == "apply" else ()
        return sorted(found)

    def variable(self, number: int) -> str:
        """Return the name of the variable that holds a node's value."""
        node = self.nodes[number]
        return (
            f"{node.op}_i" if node.kind == "read" else f"{node.op}_{self.turn(number)}"
        )

    def turn(self, number: int) -> int:
        """Return which of the ops a node is, from 1."""
        return sum(n.kind in ("apply", "reduce") for n in self.nodes[: number + 1])


class GraphBuilder:
    """Collects nodes, each once.

    Example:
        >>> build = GraphBuilder()
        >>> x = build.read("x")
        >>> build.apply("exp", x) == build.apply("exp", x)
        True
    """

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._known: dict[Node, int] = {}

    def add(self, node: Node) -> int:
        """Add a node, or find an equal one; return its number."""
        if node not in self._known:
            self._known[node] = len(self.nodes)
            self.nodes.append(node)
        return self._known[node]

    def read(self, name: str, level: str = FULL, *, is_bool: bool = False) -> int:
        """Read an element of an array."""
        return self.add(Node("read", name, (), level, is_bool))

    def number(self, value: Any) -> int:
        """Use a number; one with a label becomes a parameter of that name."""
        label = getattr(value, "label", "")
        return self.add(Node("number", label, value=value, text=repr(value)))

    def apply(
        self, op: str, *args: int, is_bool: bool = False, comment: str = ""
    ) -> int:
        """Apply an element-wise op; of rows only, it gives one value for each row."""
        used = [self.nodes[a] for a in args if self.nodes[a].kind != "number"]
        level = ROW if used and all(node.level == ROW for node in used) else FULL
        return self.add(Node("apply", op, args, level, is_bool, comment=comment))

    def reduce(self, op: str, arg: int, comment: str = "") -> int:
        """Reduce over the row."""
        return self.add(Node("reduce", op, (arg,), ROW, comment=comment))

    def graph(self, outputs: list[int], names: list[str], stores: list[str]) -> Graph:
        """Return the graph, once all is in it."""
        numbers = [n.op for n in self.nodes if n.kind == "number" and n.op]
        return Graph(
            tuple(self.nodes),
            tuple(outputs),
            tuple(names),
            tuple(stores),
            tuple(dict.fromkeys(numbers)),
        )
