"""Why ops may not become one kernel: one word for each rule, and a sentence.

The words are those that reports group by; the sentences name the op, the array or the
line that the rule is about.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["KINDS", "Reason"]

KINDS = {
    "alias": "the output lies on an input in another layout",
    "barrier": "all blocks have to be done first: a barrier over the whole grid",
    "consumer": "another op needs a value before the group has ended",
    "dtype": "integers or float64 are in it",
    "host read": "the host reads in between, and may decide by what it sees",
    "no rule": "the op is neither element-wise nor a reduction over a row",
    "stream": "they run in different streams",
    "shape": "it needs another iteration space",
    "unknown launch": "a launch in between, of which no record tells what it reads",
}


@dataclass(frozen=True)
class Reason:
    """A rule that forbids a fusion.

    Args:
        kind: one of `KINDS`.
        text: what breaks it, in one sentence.

    Example:
        >>> print(Reason("barrier", "sum over axis 0 is done when all blocks are"))
        barrier: sum over axis 0 is done when all blocks are
    """

    kind: str
    text: str

    def __str__(self) -> str:
        """Tell kind and sentence."""
        return f"{self.kind}: {self.text}"
