"""The gradient of an element-wise graph, as another graph: one kernel again.

Comes in: the graph of the forward step. Goes out: a graph that computes the forward
values anew in registers and sends the gradient of the output back to each input. The
rules are those of TinyTorch's own backward functions, so that both agree.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from tinytorch_gpu.fusion.graph import FULL, Graph, GraphBuilder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tinytorch_gpu.fusion.graph import Node

__all__ = ["GRADIENTS", "BackwardGraph", "backward_graph"]

Parts = tuple["int | None", ...]


def _mul(b: GraphBuilder, a: tuple[int, ...], _y: int, g: int) -> Parts:
    return b.apply("mul", g, a[1]), b.apply("mul", g, a[0])


def _div(b: GraphBuilder, a: tuple[int, ...], _y: int, g: int) -> Parts:
    by_a = b.apply("div", g, a[1])
    return by_a, b.apply("mul", b.apply("neg", by_a), b.apply("div", *a))


def _pow(b: GraphBuilder, a: tuple[int, ...], _y: int, g: int) -> Parts:
    exponent = b.nodes[a[1]]
    if exponent.kind != "number":
        return None, None
    lower = b.apply("pow", a[0], b.number(float(exponent.value) - 1.0))
    return b.apply("mul", g, b.apply("mul", a[1], lower)), None


def _larger(b: GraphBuilder, a: tuple[int, ...], _y: int, g: int) -> Parts:
    return _chosen(b, b.apply("gt", *a, is_bool=True), g)


def _smaller(b: GraphBuilder, a: tuple[int, ...], _y: int, g: int) -> Parts:
    return _chosen(b, b.apply("lt", *a, is_bool=True), g)


def _chosen(b: GraphBuilder, is_first: int, g: int) -> Parts:
    zero = b.number(0.0)
    return b.apply("where", is_first, g, zero), b.apply("where", is_first, zero, g)


def _abs(b: GraphBuilder, a: tuple[int, ...], _y: int, g: int) -> Parts:
    zero = b.number(0.0)
    is_negative = b.apply("lt", a[0], zero, is_bool=True)
    is_positive = b.apply("gt", a[0], zero, is_bool=True)
    other = b.apply("where", is_negative, b.apply("neg", g), zero)
    return (b.apply("where", is_positive, g, other),)


def _gelu(b: GraphBuilder, a: tuple[int, ...], _y: int, g: int) -> Parts:
    scaled = b.apply("mul", b.number(1.702), a[0])
    s = b.apply("sigmoid", scaled)
    rest = b.apply("sub", b.number(1.0), s)
    slope = b.apply("add", s, b.apply("mul", b.apply("mul", scaled, s), rest))
    return (b.apply("mul", g, slope),)


def _masked(b: GraphBuilder, a: tuple[int, ...], _y: int, g: int) -> Parts:
    return b.apply("masked_fill", g, a[1], b.number(0.0)), None, None


def _square(b: GraphBuilder, a: tuple[int, ...], _y: int, g: int) -> Parts:
    return (b.apply("mul", g, b.apply("mul", b.number(2.0), a[0])),)


def _sqrt(b: GraphBuilder, _a: tuple[int, ...], y: int, g: int) -> Parts:
    return (b.apply("div", g, b.apply("mul", b.number(2.0), y)),)


GRADIENTS: dict[str, Callable[[GraphBuilder, tuple[int, ...], int, int], Parts]] = {
    "add": lambda _b, _a, _y, g: (g, g),
    "sub": lambda b, _a, _y, g: (g, b.apply("neg", g)),
    "mul": _mul,
    "div": _div,
    "pow": _pow,
    "maximum": _larger,
    "minimum": _smaller,
    "neg": lambda b, _a, _y, g: (b.apply("neg", g),),
    "abs": _abs,
    "square": _square,
    "exp": lambda b, _a, y, g: (b.apply("mul", g, y),),
    "log": lambda b, a, _y, g: (b.apply("div", g, a[0]),),
    "sqrt": _sqrt,
    "tanh": lambda b, _a, y, g: (b.apply("tanh_backward", g, y),),
    "sigmoid": lambda b, _a, y, g: (b.apply("sigmoid_backward", g, y),),
    "relu": lambda b, a, _y, g: (b.apply("relu_backward", g, a[0]),),
    "gelu": _gelu,
    "gelu_of_finite": _gelu,
    "masked_fill": _masked,
    "copy": lambda _b, _a, _y, g: (g,),
    "where": lambda b, a, _y, g: (None, *_chosen(b, a[0], g)),
    "floor": lambda _b, _a, _y, _g: (None,),
    **dict.fromkeys(
        ("gt", "ge", "lt", "le", "eq", "ne", "isnan", "isfinite", "logical_not"),
        lambda _b, a, _y, _g: (None,) * len(a),
    ),
}


class BackwardGraph(NamedTuple):
    """The gradient of an element-wise graph.

    Args:
        graph: reads what the forward step read, and `grad`.
        routes: for each parameter with a gradient the array that holds it: what the
            kernel stores, or `grad` where that is passed on as it is.
    """

    graph: Graph
    routes: dict[str, str]


def backward_graph(graph: Graph, wanted: Sequence[str]) -> BackwardGraph | str:
    """Return the graph of an element-wise graph's gradient.

    Args:
        graph: of the forward step, with one output.
        wanted: parameters that need a gradient.

    Returns:
        The graph, and where the gradients of those `wanted` that have one are; the
        name of an op that has no rule.
    """
    unknown = [n.op for n in graph.nodes if n.kind == "apply" and n.op not in GRADIENTS]
    if unknown:
        return unknown[0]
    build, same = GraphBuilder(), dict[int, int]()
    for number, node in enumerate(graph.nodes):
        same[number] = build.add(_moved(node, same))
    grad = build.read("grad")
    parts: dict[int, list[int]] = defaultdict(list)
    parts[graph.outputs[-1]].append(grad)
    for number in range(len(graph.nodes) - 1, -1, -1):
        node = graph.nodes[number]
        if node.kind != "apply" or not parts[number]:
            continue
        args = tuple(same[a] for a in node.args)
        found = GRADIENTS[node.op](
            build, args, same[number], _sum(build, parts[number])
        )
        for arg, part in zip(node.args, found, strict=True):
            if part is not None and graph.nodes[arg].kind != "number":
                parts[arg].append(part)
    reads = {n.op: i for i, n in enumerate(graph.nodes) if n.kind == "read"}
    outputs = {
        name: _sum(build, parts[reads[name]])
        for name in wanted
        if name in reads and parts[reads[name]]
    }
    store_of = {grad: "grad"}
    for name, number in outputs.items():
        store_of.setdefault(number, f"grad_{name}")
    routes = {name: store_of[number] for name, number in outputs.items()}
    del store_of[grad]
    return BackwardGraph(_pruned(build, store_of), routes)


def _moved(node: Node, same: dict[int, int]) -> Node:
    """Return a node whose operands have their numbers in the new graph."""
    return replace(node, args=tuple(same[a] for a in node.args), comment="")


def _sum(build: GraphBuilder, parts: list[int]) -> int:
    total = parts[0]
    for part in parts[1:]:
        total = build.apply("add", total, part)
    parts[:] = [total]
    return total


def _pruned(build: GraphBuilder, store_of: dict[int, str]) -> Graph:
    """Keep the reads that some output needs, and name the stores."""
    whole = build.graph(list(store_of), [], list(store_of.values()))
    needed = {n for out in store_of for n in whole.needed(out)}
    names = [
        n.op
        for i, n in enumerate(build.nodes)
        if i in needed and n.kind == "read" and n.level == FULL
    ]
    numbers = [
        build.nodes[a].op
        for i in needed
        for a in build.nodes[i].args
        if build.nodes[a].kind == "number" and build.nodes[a].op
    ]
    return Graph(
        whole.nodes,
        whole.outputs,
        tuple(names),
        whole.stores,
        tuple(dict.fromkeys(numbers)),
    )
