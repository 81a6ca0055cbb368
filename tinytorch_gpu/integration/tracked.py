"""Generation A's ops on the device: methods and `forward`s that autograd has wrapped.

There an op is a method (`Tensor.matmul`, `Sigmoid.forward`) that computes and then
hangs a node on the result, `SigmoidBackward(x, out)`, whose `apply` is the gradient
rule. On device operands the op asks the dispatcher for the numbers and hangs the
learner's own node on the result. Where no kernel serves it, or the node is not as
expected, the learner's own code runs: its NumPy calls become launches.
"""

from __future__ import annotations

import functools
import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.integration.bindings import element_of
from tinytorch_gpu.integration.candidates import method_candidate, name_of
from tinytorch_gpu.integration.fits import Fits
from tinytorch_gpu.integration.home import at_home
from tinytorch_gpu.integration.kinds import unpatched
from tinytorch_gpu.integration.ops import accepted
from tinytorch_gpu.integration.own_code import hangs_node, tensor_by_own_code
from tinytorch_gpu.library import call, has_kernel
from tinytorch_gpu.memory import DeviceArray

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.integration.detect import TinyTorch
    from tinytorch_gpu.integration.fits import Candidate, Verdict
    from tinytorch_gpu.integration.patches import Patches

__all__ = ["TRACKED", "Tracked", "patch_tracked", "tracked_candidates"]


@dataclass(frozen=True)
class Tracked:
    """How a method of generation A is an op.

    Args:
        owner: the class.
        method: its method; the object is an operand where the class is `Tensor`.
        op: PyTorch's name.
        node: the class of autograd that goes on with the gradient.
        tensors: how many operands are Tensors.
        parameters: arguments that the op takes by name.
    """

    owner: str
    method: str
    op: str
    node: str
    tensors: int = 1
    parameters: tuple[str, ...] = ()


TRACKED = (
    Tracked("Tensor", "matmul", "matmul", "MatmulBackward", 2),
    Tracked("Tensor", "sum", "sum", "SumBackward", 1, ("axis", "keepdims")),
    Tracked("Tensor", "__getitem__", "slice", "SliceBackward", 1, ("key",)),
    Tracked("Sigmoid", "forward", "sigmoid", "SigmoidBackward"),
    Tracked("ReLU", "forward", "relu", "ReLUBackward"),
    Tracked("Tanh", "forward", "tanh", "TanhBackward"),
    Tracked("GELU", "forward", "gelu", "GELUBackward"),
    Tracked("Softmax", "forward", "softmax", "SoftmaxBackward", 1, ("dim",)),
    Tracked("MSELoss", "forward", "mse", "MSEBackward", 2),
    Tracked("BinaryCrossEntropyLoss", "forward", "bce", "BCEBackward", 2),
    Tracked("CrossEntropyLoss", "forward", "cross_entropy", "CrossEntropyBackward", 2),
)


def tracked_candidates(found: TinyTorch) -> dict[str, Candidate]:
    """Return how each method that is an op is tried, by op.

    Args:
        found: a TinyTorch of generation A.
    """
    return {
        tracked.op: _candidate(found, owner, tracked)
        for tracked, owner in _tracked(found)
    }


def patch_tracked(patches: Patches, found: TinyTorch) -> None:
    """Send generation A's ops to the dispatcher when their operands are on a device.

    Args:
        patches: where originals are kept.
        found: the TinyTorch to change.
    """
    for tracked, owner in _tracked(found):
        original = patches.original(owner, tracked.method)
        method = _op(original, tracked, found)
        patches.set(owner, tracked.method, method)


def _candidate(found: TinyTorch, owner: Any, tracked: Tracked) -> Candidate:
    return method_candidate(found, owner, tracked.method, tracked.op, tracked.node)


def _tracked(found: TinyTorch) -> list[tuple[Tracked, Any]]:
    """Return the methods of the table that are there, and are methods of objects."""
    pairs = ((one, found.owner_of(one.owner, one.method)) for one in TRACKED)
    return [(one, owner) for one, owner in pairs if owner is not None]


def _op(original: Callable[..., Any], tracked: Tracked, found: TinyTorch) -> Any:
    """Wrap a method: device operands go through the dispatcher."""
    signature, fits = inspect.signature(original), Fits(found)
    tried: dict[type, Candidate] = {}
    skipped = 0 if tracked.owner == "Tensor" else 1
    is_autograds = hangs_node(original)
    at_work = at_home(original, f"{tracked.owner}.{tracked.method}")

    @functools.wraps(original)
    def method(*args: Any, **options: Any) -> Any:
        given = signature.bind(*args, **options)
        given.apply_defaults()
        tensors = list(given.arguments.values())[skipped:][: tracked.tensors]
        arrays = [getattr(tensor, "data", None) for tensor in tensors]
        if not any(isinstance(array, DeviceArray) for array in arrays):
            return original(*args, **options)
        layer = args[0] if skipped else None
        others = list(given.arguments)[skipped + tracked.tensors :]
        rest = {name: given.arguments[name] for name in others}
        parameters = _parameters(tracked, rest, layer)
        above = f"{type(args[0]).__name__}.{tracked.method}" if is_autograds else ""
        out = None
        if parameters is not None and (tracked.op == "slice" or has_kernel(tracked.op)):
            kind = type(args[0])  # a class derived from the owner is tried by itself
            if kind not in tried:
                tried[kind] = _candidate(found, kind, tracked)
            verdict = fits.forward(tried[kind])
            if verdict.fits and verdict.takes(tuple(arrays), parameters, layer):
                hung = verdict.nodes
                hang = _node_maker(original, tracked, found, tensors, parameters, hung)
                served = (tracked, found, arrays, parameters, hang, verdict)
                out = _served(*served, above)
        if out is None:
            code = functools.partial(at_work, *args, **options)
            out = tensor_by_own_code(tracked.op, arrays, code, above)
        return out

    return method


def _parameters(
    tracked: Tracked, given: dict[str, Any], layer: Any
) -> dict[str, Any] | None:
    """Return what an op is given by name, by PyTorch's name; None if by others, too.

    Args:
        tracked: the op.
        given: what the method was called with beside Tensors.
        layer: the object that may keep a parameter.
    """
    kept, found = getattr(layer, "__dict__", {}), {}
    for parameter in tracked.parameters:
        if own := name_of(parameter, given):
            found[parameter] = given.pop(own)
        elif own := name_of(parameter, kept):
            found[parameter] = kept[own]
    return None if given else found


def _served(
    tracked: Tracked,
    found: TinyTorch,
    arrays: list[Any],
    parameters: dict[str, Any],
    hang: Callable[[Any], None] | None,
    verdict: Verdict,
    above: str,
) -> Any:
    """Let a kernel compute the op and hang its node on; None where that cannot be."""
    if hang is None or any(array is None for array in arrays):
        return None
    if tracked.op == "slice":
        data = element_of(arrays[0], parameters["key"])
        if data is None:
            return None
    else:
        named = {**parameters, **accepted(tracked.op, verdict.options)}
        data = call(tracked.op, *arrays, autograd=above, **named)
    out = found.tensor_class(data)
    hang(out)
    return out


def _node_maker(
    original: Callable[..., Any],
    tracked: Tracked,
    found: TinyTorch,
    tensors: list[Any],
    parameters: dict[str, Any],
    hung: frozenset[type],
) -> Callable[[Any], None] | None:
    """Return what hangs the learner's node on a result; None if theirs is another."""
    names = unpatched(original).__code__.co_names
    if "_grad_fn" not in names and hung - {type(None)}:
        return None  # code further away hangs it on
    if "_grad_fn" not in names or not found.is_recorded(*tensors):
        return lambda _: None
    node = getattr(found.modules.get("autograd"), tracked.node, None)
    if node is None or tracked.node not in names or hung - {node, type(None)}:
        return None
    wanted = inspect.signature(node.__init__).parameters
    named = {name: value for name, value in parameters.items() if name in wanted}
    by_place = [
        p
        for p in list(wanted.values())[1:]
        if p.default is p.empty
        and p.kind is not p.VAR_POSITIONAL
        and p.name not in named
    ]
    takes_output = len(by_place) == len(tensors) + 1
    if by_place and not takes_output and len(by_place) != len(tensors):
        return None

    def hang(out: Any) -> None:
        out.requires_grad = True
        operands = (*tensors, out) if takes_output else tensors
        out._grad_fn = node(*operands, **named)  # noqa: SLF001  (TinyTorch's name)

    return hang
