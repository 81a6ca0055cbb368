"""Random device functions whose variables change their type, as text.

The functions are typed, never run, so loops need not end.
"""

import random

ATOMS = ("a", "b", "c", "d", "1", "2.5", "True", "v", "w", "u")
TYPES = ("int32", "int64", "float32", "float64", "uint32", "int8", "bool")
TESTS = ("c > 1", "d > 0.5", "a == b")


class Writer:
    """Writes one function after another, the same ones for the same seed."""

    def __init__(self, seed):
        self._random = random.Random(seed)

    def types(self):
        """Return the types of the four parameters a, b, c, d."""
        return [self._random.choice(TYPES) for _ in range(4)]

    def function(self, name):
        """Return the text of a function of four parameters."""
        first = [f"    {v} = {self._random.choice('abcd')}" for v in "vwu"]
        last = f"    return {self._random.choice(['v', 'w', 'u', self._expression(1)])}"
        lines = [f"def {name}(a, b, c, d):", *first, *self._suite(1, 2, False), last]
        return "\n".join(lines) + "\n"

    def _expression(self, depth):
        one = self._random.choice
        if depth == 0:
            return one(ATOMS)
        inner = lambda: self._expression(depth - 1)  # noqa: E731
        kind = self._random.randrange(8)
        if kind < 4:
            return f"({inner()} {one(['+', '-', '*', '/', '//', '%'])} {inner()})"
        if kind == 4:
            return f"({inner()} if {one(TESTS)} else {inner()})"
        if kind == 5:
            return f"{one(['min', 'max'])}({inner()}, {inner()})"
        if kind == 6:
            return f"({one('abcdvwu')} {one(['and', 'or'])} {one(ATOMS)})"
        return f"-({inner()})"

    def _suite(self, indent, depth, is_in_loop):
        lines = []
        for _ in range(self._random.randrange(1, 4)):
            lines += self._statement("    " * indent, indent, depth, is_in_loop)
        return lines

    def _statement(self, margin, indent, depth, is_in_loop):
        one = self._random.choice
        kind = self._random.randrange(10)
        if kind < 5 or depth == 0:
            value = self._expression(self._random.randrange(2))
            return [f"{margin}{one('vwu')} {one(['=', '=', '+=', '*='])} {value}"]
        deeper = lambda loop: self._suite(indent + 1, depth - 1, loop)  # noqa: E731
        if kind == 5:
            lines = [f"{margin}if {one(TESTS)}:", *deeper(is_in_loop)]
            is_two_sided = self._random.random() < 0.5
            return lines + [f"{margin}else:", *deeper(is_in_loop)] * is_two_sided
        if kind == 6:
            return [f"{margin}for k in range(3):", *deeper(True)]
        if kind == 7:
            return [f"{margin}while a < 5:", *deeper(True), f"{margin}    a += 1"]
        if kind == 8 and is_in_loop:
            return [f"{margin}if c > 7:", f"{margin}    {one(['break', 'continue'])}"]
        if kind == 9:
            return [f"{margin}if c > 9:", f"{margin}    return {self._expression(1)}"]
        return [f"{margin}u, v = v, w"]
