"""A Hypothesis strategy for the source of random kernels.

Every kernel ends, stays in bounds and has no race: loops are short, indices are taken
`% n`, and a thread writes element `i` only. Variables keep one type, so that the
reference, which sees one path at a time, needs no unification.
"""

from hypothesis import strategies as st

HEAD = '''\
"""A random kernel, written by tests/semantics/random_kernels.py."""
import math

from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import float32, int32, int64


@cuda.jit(device=True)
def pick(a, b):
    for k in range(3):
        if a > b + k:
            return a - k
        if a == b:
            break
    else:
        return b * 2
    return a + b


@cuda.jit(device=True)
def both(a, b):
    if b < 0:
        return b, a
    return a, b


@cuda.jit
def kernel(x, y, z, ints, singles, doubles, s):
    i = cuda.grid(1)
    n = x.size
    if i >= n:
        return
    a0, a1, a2 = 1, int64(x[i]), s
    f0, f1 = float32(1.5), y[i]
    d0, d1 = 0.25, z[i]
    k0 = k1 = k2 = 0
    w0 = w1 = w2 = 0
'''
INTS = ("a0", "a1", "a2")
SINGLES = ("f0", "f1")
DOUBLES = ("d0", "d1")
LOADED_INTS = ("x[i]", "ints[i]", "i", "s", "cuda.threadIdx.x", "cuda.blockIdx.x", "n")
INT_OPERATORS = ("+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>")
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


class Writer:
    """Writes one kernel.

    Args:
        number: `number(low, high)` chooses an integer; every choice is one.
    """

    def __init__(self, number):
        self._number = number
        self.lines = []
        self._indent = 1
        self._loops = 0
        self._budget = 24  # statements

    def _one(self, *choices):
        return choices[self._number(0, len(choices) - 1)]

    def _emit(self, line):
        self.lines.append("    " * self._indent + line)

    # Expressions; each method returns text of its type.

    def integer(self, depth=2):
        if depth == 0:
            return self._one(
                str(self._number(-3, 9)), *INTS, *LOADED_INTS, "k0", "k1", "k2"
            )
        inner = lambda: self.integer(depth - 1)  # noqa: E731
        kind = self._number(0, 9)
        if kind < 4:
            return f"({inner()} {self._one(*INT_OPERATORS)} {inner()})"
        if kind == 4:
            return f"{self._one('-', '~', '+')}{inner()}"
        if kind == 5:
            return f"int64({inner()} if {self.condition(1)} else {inner()})"
        if kind == 6:
            return f"x[{inner()} % n]"
        if kind == 7:
            return (
                f"{self._one('min', 'max', 'pick')}(int64({inner()}), int64({inner()}))"
            )
        if kind == 8:
            return f"{self._one('int32', 'int64')}({self.double(depth - 1)})"
        return f"({self.condition(1)}) * {inner()}"

    def single(self, depth=2):
        if depth == 0:
            return self._one(*SINGLES, "y[i]", "singles[i]", "float32(0.3)")
        inner = lambda: self.single(depth - 1)  # noqa: E731
        kind = self._number(0, 6)
        if kind < 3:
            return f"({inner()} {self._one('+', '-', '*', '/')} {inner()})"
        if kind == 3:
            return f"{self._one('-', 'abs')}({inner()})"
        if kind == 4:
            return f"({inner()} if {self.condition(1)} else {inner()})"
        if kind == 5:
            return f"float32({self.anything(depth - 1)})"
        return f"y[{self.integer(depth - 1)} % n]"

    def double(self, depth=2):
        if depth == 0:
            return self._one(*DOUBLES, "z[i]", "doubles[i]", "0.1", "-2.5")
        inner = lambda: self.double(depth - 1)  # noqa: E731
        kind = self._number(0, 8)
        if kind < 3:
            sign = self._one("+", "-", "*", "/")
            return f"({inner()} {sign} {self.anything(depth - 1)})"
        if kind == 3:
            return f"({self.single(depth - 1)} {self._one('+', '*')} {self.integer(0)})"
        if kind == 4:
            return f"({self.integer(depth - 1)} / {self.integer(0)})"
        if kind == 5:
            return f"math.sqrt(abs({inner()}))"
        if kind == 6:
            return f"({inner()} if {self.condition(1)} else {inner()})"
        if kind == 7:
            return f"({inner()} {self._one('//', '%')} {inner()})"
        return f"{self._one('min', 'max')}({inner()}, {inner()})"

    def anything(self, depth=2):
        return self._one(self.integer, self.single, self.double)(depth)

    def condition(self, depth=2):
        kind = self._number(0, 6) if depth else 0
        if kind < 3:
            compared = self._one(self.integer, self.single)
            return f"{compared(1)} {self._one(*COMPARISONS)} {compared(0)}"
        if kind == 3:
            signs = (self._one("<", "<="), self._one("<", "<=", "!="))
            low, middle, high = self.integer(1), self.integer(1), self.integer(0)
            return f"{low} {signs[0]} {middle} {signs[1]} {high}"
        if kind == 4:
            return f"not ({self.condition(depth - 1)})"
        joint = self._one("and", "or")
        return f"(({self.condition(depth - 1)}) {joint} ({self.condition(depth - 1)}))"

    # Statements.

    def body(self, depth):
        """Write an indented suite of one to four statements."""
        self._indent += 1
        for _ in range(self._number(1, 4)):
            self.statement(depth)
        self._indent -= 1

    def statement(self, depth):
        self._budget -= 1
        simple = (self.assign, self.update, self.store, self.swap)
        nested = (self.branch, self.branch, self.for_loop, self.while_loop)
        leave = (self.leave,)
        if self._budget < 0 or depth == 0:
            self._one(*simple, *leave)(depth)
        else:
            self._one(*simple, *nested, *nested, *leave)(depth)

    def assign(self, _depth):
        kind = self._number(0, 3)
        if kind == 0:
            self._emit(f"{self._one(*SINGLES)} = {self.single()}")
        elif kind == 1:
            self._emit(f"{self._one(*DOUBLES)} = {self.double()}")
        else:
            target = self._one(*INTS, *INTS, "k0", "k1")
            self._emit(f"{target} = int64({self.integer()})")

    def update(self, _depth):
        kind = self._number(0, 3)
        sign = self._one("+", "-", "*")
        if kind == 0:
            self._emit(f"{self._one(*SINGLES)} {sign}= {self.single(1)}")
        elif kind == 1:
            self._emit(f"{self._one(*DOUBLES)} {sign}= {self.anything(1)}")
        else:
            self._emit(
                f"{self._one(*INTS)} {self._one(*INT_OPERATORS)}= {self.integer(1)}"
            )

    def store(self, _depth):
        array = self._one("ints", "singles", "doubles")
        sign = self._one("", "+", "*")
        self._emit(f"{array}[i] {sign}= {self.anything()}")

    def swap(self, _depth):
        a, b = self._one(("a0", "a1"), ("a2", "a1"), ("f0", "f1"), ("d0", "d1"))
        right = f"both({a}, {b})" if self._number(0, 2) == 0 else f"{b}, {a}"
        self._emit(f"{a}, {b} = {right}")

    def leave(self, _depth):
        """Leave a loop, an iteration, or rarely the kernel, under a condition."""
        choices = ("break", "continue") * (3 if self._loops else 0) + ("return",)
        if not self._loops and self._number(0, 2):
            self.store(0)
            return
        self._emit(f"if {self.condition()}:")
        self._indent += 1
        if self._number(0, 2) == 0:
            self.update(0)
        self._emit(self._one(*choices))
        self._indent -= 1

    def branch(self, depth):
        self._emit(f"if {self.condition()}:")
        self.body(depth - 1)
        if self._number(0, 3) == 0:
            self._emit(f"elif {self.condition()}:")
            self.body(depth - 1)
        if self._number(0, 1):
            self._emit("else:")
            self.body(depth - 1)

    def for_loop(self, depth):
        bounds = self._one(
            lambda: str(self._number(0, 4)),
            lambda: "s % 4",
            lambda: f"{self.integer(1)} % 4",
            lambda: f"{self.integer(1)} % 3, {self.integer(1)} % 6",
            lambda: f"{self.integer(0)} % 5, -1, {-self._number(1, 3)}",
            lambda: f"3, {self.integer(0)} % 4, -1 if {self.condition(0)} else 2",
        )()
        self._emit(f"for {self._one('k0', 'k1', 'k2')} in range({bounds}):")
        self._loop(depth)

    def while_loop(self, depth):
        counter = f"w{depth - 1}"
        self._emit(f"{counter} = 0")
        limit = self._one("3", f"{self.integer(1)} % 5")
        test = f"{counter} < {limit}"
        test = test if self._number(0, 1) else f"{test} and ({self.condition(1)})"
        self._emit(f"while {test}:")
        self._emit(f"    {counter} += 1")
        self._loop(depth)

    def _loop(self, depth):
        self._loops += 1
        self.body(depth - 1)
        self._loops -= 1
        if self._number(0, 3) == 0:
            self._emit("else:")
            self.body(depth - 1)


RESULTS = (
    "    ints[i] += a0 + 3 * a1 + 5 * a2 + k0 + 7 * k1 + 11 * k2 + w0 + w1 * w2",
    "    singles[i] += f0 - f1",
    "    doubles[i] += d0 * 3 + d1",
)


def kernel_source(number):
    """Write the source of a module with one kernel, `kernel`."""
    writer = Writer(number)
    for _ in range(number(2, 6)):
        writer.statement(3)
    return HEAD + "\n".join([*writer.lines, *RESULTS]) + "\n"


@st.composite
def kernel_sources(draw):
    """Draw such a source."""
    return kernel_source(lambda low, high: draw(st.integers(low, high)))
