"""Random expressions of a kernel, each with a type that its writer knows."""

INTS = ("a0", "a1", "a2")
SINGLES = ("f0", "f1")
DOUBLES = ("d0", "d1")
LOADED_INTS = (
    "x[i]", "ints[i]", "i", "s", "cuda.threadIdx.x", "cuda.blockIdx.x", "n",
    "bytes_[i]", "shorts[i]", "words[i]", "mine[i % 4]", "cuda.laneid",
)  # fmt: skip
INT_OPERATORS = ("+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>")
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


class Expressions:
    """Writes expressions; each method returns text of its type.

    Args:
        number: `number(low, high)` chooses an integer; every choice is one.
    """

    def __init__(self, number):
        self._number = number

    def _one(self, *choices):
        return choices[self._number(0, len(choices) - 1)]

    def _call(self, *choices):
        """Choose a way to write; only the chosen one is written."""
        return self._one(*choices)()

    def integer(self, depth=2):
        """Write an integer of any width, or a bool."""
        if depth == 0:
            return self._one(
                str(self._number(-3, 9)), *INTS, *LOADED_INTS, "k0", "k1", "k2"
            )

        def inner():
            return self.integer(depth - 1)

        def operation():
            return f"({inner()} {self._one(*INT_OPERATORS)} {inner()})"

        return self._call(
            operation,
            operation,
            operation,
            operation,
            lambda: f"{self._one('-', '~', '+')}{inner()}",
            lambda: f"(int64({inner()}) if {self.condition(1)} else int64({inner()}))",
            lambda: self.element(depth - 1),
            lambda: self.called(depth - 1),
            lambda: f"{self._one('int32', 'int64')}({self.double(depth - 1)})",
            lambda: f"({self.condition(1)}) * {inner()}",
            lambda: self.bits(depth - 1),
            lambda: f"{self.narrow()}({inner()})",
        )

    def narrow(self):
        return self._one("int8", "int16", "int32", "uint8", "uint16", "uint32")

    def element(self, depth):
        """Read an element of an array that no thread writes, or of the own memory."""
        return self._one(
            f"x[{self.integer(depth)} % n]",
            f"tail[{self.integer(depth)} % tail.size]",
            f"mine[{self.integer(depth)} % 4]",
            f"every_other[{self.integer(depth)} % len(every_other)]",
        )

    def called(self, depth):
        """Call a function that takes two or more integers."""
        a, b = (f"int64({self.integer(depth)})" for _ in range(2))
        return self._one(
            f"min({a}, {b})",
            f"max({a}, {b}, 3)",
            f"pick({a}, {b})",
            f"scaled({a})",
            f"scaled({a}, by={b})",
            f"total_of(({a}, {b}, s))",
            f"cuda.selp({self.condition(0)}, {a}, {b})",
        )

    def bits(self, depth):
        function = self._one("popc", "clz", "ffs", "brev")
        kind = self._one("int32", "int64", "uint32")
        return f"int64(cuda.{function}({kind}({self.integer(depth)})))"

    def single(self, depth=2):
        """Write a float32."""
        if depth == 0:
            return self._one(*SINGLES, "y[i]", "singles[i]", "float32(0.3)")

        def inner():
            return self.single(depth - 1)

        def operation():
            return f"({inner()} {self._one('+', '-', '*', '/')} {inner()})"

        return self._call(
            operation,
            operation,
            operation,
            lambda: f"{self._one('-', 'abs', 'math.floor')}({inner()})",
            lambda: f"({inner()} if {self.condition(1)} else {inner()})",
            lambda: f"float32({self.anything(depth - 1)})",
            lambda: f"y[{self.integer(depth - 1)} % n]",
            lambda: f"row[{self.integer(depth - 1)} % 3]",
            lambda: f"({inner()} {self._one('+', '-', '*')} {self.half(depth - 1)})",
            lambda: f"cuda.fma({inner()}, {inner()}, {inner()})",
            lambda: f"float32({self.half(depth - 1)})",
        )

    def half(self, depth=1):
        """Write a float16."""
        if depth == 0:
            return self._one("halves[i]", "float16(0.75)")
        return (
            f"({self.half(0)} {self._one('+', '-', '*', '/')} {self.half(depth - 1)})"
        )

    def double(self, depth=2):
        """Write a float64."""
        if depth == 0:
            return self._one(*DOUBLES, "z[i]", "doubles[i]", "0.1", "-2.5")

        def inner():
            return self.double(depth - 1)

        def operation():
            sign = self._one("+", "-", "*", "/")
            return f"({inner()} {sign} {self.anything(depth - 1)})"

        return self._call(
            operation,
            operation,
            operation,
            lambda: f"float64({self.single(depth - 1)} * {self.integer(0)})",
            lambda: f"({self.wide(depth - 1)} / {self.integer(0)})",
            lambda: f"math.sqrt(abs({inner()}))",
            lambda: f"({inner()} if {self.condition(1)} else {inner()})",
            lambda: f"({inner()} {self._one('//', '%')} {inner()})",
            lambda: f"{self._one('min', 'max')}({inner()}, {inner()})",
            lambda: f"cuda.fma({inner()}, {inner()}, {inner()})",
        )

    def wide(self, depth):
        """Write an int64."""
        return f"int64({self.integer(depth)})"

    def anything(self, depth=2):
        """Write a number of any type."""
        return self._call(
            lambda: self.integer(depth),
            lambda: self.single(depth),
            lambda: self.double(depth),
            lambda: self.half(min(depth, 1)),
        )

    def condition(self, depth=2):
        """Write a truth."""
        kind = self._number(0, 6) if depth else 0
        if kind < 3:
            compared = self._one(self.wide, self.single, self.double)
            return f"{compared(1)} {self._one(*COMPARISONS)} {compared(0)}"
        if kind == 3:
            signs = (self._one("<", "<="), self._one("<", "<=", "!="))
            low, middle, high = self.wide(1), self.wide(1), self.wide(0)
            return f"{low} {signs[0]} {middle} {signs[1]} {high}"
        if kind == 4:
            return f"not ({self.condition(depth - 1)})"
        joint = self._one("and", "or")
        return f"(({self.condition(depth - 1)}) {joint} ({self.condition(depth - 1)}))"
