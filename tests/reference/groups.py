"""Operations that several threads do together: barriers, shuffles, votes, matches.

A thread that comes to one yields a `Request` and waits; `launch.py` answers it when the
others have come.
"""

import inspect

import numpy as np

from tests.reference.arithmetic import literal

FULL = 0xFFFFFFFF

# Parameters of each operation, named and defaulted as numba does.
PARAMETERS = {
    "syncthreads": lambda: None,
    "syncthreads_count": lambda predicate: None,
    "syncthreads_and": lambda predicate: None,
    "syncthreads_or": lambda predicate: None,
    "syncwarp": lambda mask=FULL: None,
    "shfl_sync": lambda mask, value, src_lane: None,
    "shfl_up_sync": lambda mask, value, delta: None,
    "shfl_down_sync": lambda mask, value, delta: None,
    "shfl_xor_sync": lambda mask, value, lane_mask: None,
    "all_sync": lambda mask, predicate: None,
    "any_sync": lambda mask, predicate: None,
    "eq_sync": lambda mask, predicate: None,
    "ballot_sync": lambda mask, predicate: None,
    "match_any_sync": lambda mask, value: None,
    "match_all_sync": lambda mask, value: None,
    "grid.sync": lambda: None,
}
SIGNATURES = {name: inspect.signature(f) for name, f in PARAMETERS.items()}
OF_BLOCK = frozenset(n for n in PARAMETERS if n.startswith("syncthreads"))
OF_WARP = frozenset(n for n in PARAMETERS if n.endswith("_sync") or n == "syncwarp")


class Request:
    """What a waiting thread brings.

    Args:
        name: the operation.
        *given: its arguments, as the kernel writes them.
        **named: the same, by keyword.
    """

    def __init__(self, name, *given, **named):
        bound = SIGNATURES[name].bind(*given, **named)
        bound.apply_defaults()
        self.name = name
        self.values = [literal(v) for v in bound.arguments.values()]

    @property
    def mask(self):
        """Lanes that take part in a warp operation, as 32 bits."""
        return int(self.values[0]) & FULL


def answers_of_block(requests):
    """Answer a block's threads, which all stand at the same barrier.

    Returns:
        A list of one int32, or None, for each request.
    """
    names = {r.name for r in requests}
    assert len(names) == 1, f"threads wait at different barriers: {names}"
    name = names.pop()
    if name == "syncthreads":
        return [None] * len(requests)
    is_true = [bool(r.values[0]) for r in requests]
    combine = {"count": sum, "and": all, "or": any}[name.removeprefix("syncthreads_")]
    return [np.int32(combine(is_true))] * len(requests)


def answers_of_warp(requests):
    """Answer the lanes of a warp, which all stand at the same operation.

    Args:
        requests: by lane number; each lane that its mask names and that has not ended.

    Returns:
        A result for each lane number.
    """
    name = next(iter(requests.values())).name
    kind = name.removesuffix("_sync")
    if name == "syncwarp":
        return dict.fromkeys(requests)
    brought = {lane: request.values[1] for lane, request in requests.items()}
    if kind.startswith("shfl"):
        return {
            lane: _shuffled(kind, lane, int(request.values[2]), brought)
            for lane, request in requests.items()
        }
    answer = VOTES[kind]
    return {lane: answer(lane, brought) for lane in requests}


def _shuffled(kind, lane, by, brought):
    """Return the value of another lane, or one's own where there is none."""
    source = {
        "shfl": by % 32,
        "shfl_up": lane - by,
        "shfl_down": lane + by,
        "shfl_xor": lane ^ by,
    }[kind]
    return brought[source] if 0 <= source < 32 and source in brought else brought[lane]


def _as_int32(lanes):
    """Set one bit for each lane."""
    return np.uint32(sum(1 << lane for lane in lanes)).view(np.int32)


def _ballot(_lane, brought):
    return _as_int32(lane for lane, value in brought.items() if value)


def _match_any(lane, brought):
    return _as_int32(other for other, v in brought.items() if v == brought[lane])


def _match_all(_lane, brought):
    is_same = len({v.tobytes() for v in brought.values()}) == 1
    return _as_int32(brought if is_same else ()), np.bool_(is_same)


VOTES = {
    "all": lambda _lane, brought: np.bool_(all(brought.values())),
    "any": lambda _lane, brought: np.bool_(any(brought.values())),
    "eq": lambda _lane, brought: np.bool_(len(set(map(bool, brought.values()))) == 1),
    "ballot": _ballot,
    "match_any": _match_any,
    "match_all": _match_all,
}
