"""Random statements of a kernel that a thread carries out by itself."""

from tests.reference.rewriting import JOIN
from tests.semantics.numba_types import binary_dtype
from tests.semantics.random_expressions import (
    COMPARISONS,
    DOUBLES,
    INT_OPERATORS,
    INTS,
    SINGLES,
    Expressions,
)

TOTALS = ("add", "max", "min", "and_", "or_", "xor")


class Statements(Expressions):
    """Writes statements into `lines`.

    Args:
        number: `number(low, high)` chooses an integer.
        may_return: whether a thread may leave the kernel midway.
    """

    def __init__(self, number, *, may_return):
        super().__init__(number)
        self.lines = []
        self._may_return = may_return
        self._indent = 1
        self._loops = 0
        self._budget = 14  # statements
        self._mixed = 0

    def _emit(self, line):
        self.lines.append("    " * self._indent + line)

    def body(self, depth):
        """Write an indented suite of one to four statements."""
        self._indent += 1
        for _ in range(self._number(1, 4)):
            self.statement(depth)
        self._indent -= 1

    def statement(self, depth):
        self._budget -= 1
        simple = (self.assign, self.update, self.store, self.swap, self.own_atomic)
        nested = (self.branch, self.branch, self.for_loop, self.while_loop)
        leave = (self.leave,)
        if self._budget < 0 or depth == 0:
            self._one(*simple, *leave)(depth)
        else:
            rare = (self.type_of_two_paths, self.type_of_a_loop, self.over_elements)
            self._one(*simple, *nested, *nested, *leave, *rare)(depth)

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
            operator = self._one(*INT_OPERATORS)
            self._emit(f"{self._one(*INTS)} {operator}= {self.wide(1)}")

    def store(self, _depth):
        place = self._one(
            "ints[i]",
            "singles[i]",
            "doubles[i]",
            "bytes_[i]",
            "shorts[i]",
            "halves[i]",
            f"mine[{self.integer(1)} % 4]",
            f"row[{self.integer(1)} % 3]",
            "table[i, 1]",
            "table[i][-1]",
        )
        sign = self._one("", "+", "*")
        self._emit(f"{place} {sign}= {self.anything()}")

    def swap(self, _depth):
        a, b = self._one(("a0", "a1"), ("a2", "a1"), ("f0", "f1"), ("d0", "d1"))
        right = f"both({a}, {b})" if self._number(0, 2) == 0 else f"{b}, {a}"
        self._emit(f"{a}, {b} = {right}")

    def own_atomic(self, _depth):
        """Change an element that no other thread changes; the old value counts."""
        operation = self._one("add", "sub", "max", "min", "and_", "or_", "xor", "exch")
        self._emit(
            self._one(
                f"a0 = cuda.atomic.{operation}(ints, i, {self.wide(1)})",
                f"a1 = int64(cuda.atomic.{self._one('inc', 'dec')}(words, i, uint32(5)))",
                f"a2 = cuda.atomic.cas(ints, i, {self.wide(0)}, {self.wide(1)})",
                f"d0 = cuda.atomic.add(doubles, i, {self.double(1)})",
                f"f0 = cuda.atomic.add(singles, i, {self.single(1)})",
                self._total(),
            )
        )

    def _total(self):
        """Change an element of all threads; no order of one operation matters."""
        operation = self._one(*TOTALS)
        cell = TOTALS.index(operation)
        return f"cuda.atomic.{operation}(totals, {cell}, {self.wide(1)})"

    # A variable whose type depends on the path. `m: "join float64"` means nothing to
    # Python and to the compiler, and tells the reference the type where paths meet.

    def _typed(self):
        """Write a value; return it with its dtype."""
        kind, write = self._one(
            ("int64", self.wide), ("float32", self.single), ("float64", self.double)
        )
        return kind, write(1)

    def _fresh(self):
        self._mixed += 1
        return f"m{self._mixed}"

    def _lane_test(self):
        """Write a test that no constants decide: else one path would be none."""
        value, high = self._one(("x[i]", 9), ("i % 5", 4), ("ints[i] % 7", 6))
        return f"{value} {self._one(*COMPARISONS)} {self._number(0, high)}"

    def type_of_two_paths(self, _depth):
        name = self._fresh()
        (first, a), (second, b) = self._typed(), self._typed()
        joined = binary_dtype("unify", first, second).name
        form = self._number(0, 2)
        if form == 0:
            self._emit(f"if {self._lane_test()}:")
            self._emit(f"    {name} = {a}")
            self._emit("else:")
            self._emit(f"    {name} = {b}")
        elif form == 1:
            self._emit(f"{name} = {a}")
            self._emit(f"doubles[i] += {name} * {name}")
            self._emit(f"if {self._lane_test()}:")
            self._emit(f"    {name} = {b}")
            self._emit(f"    doubles[i] += {name} * {name}")
        else:
            self._emit(f"{name} = {a} if {self._lane_test()} else {b}")
        self._emit(f'{name}: "{JOIN}{joined}"')
        self._emit(f"doubles[i] += {name} * y[i]")

    def type_of_a_loop(self, _depth):
        name = self._fresh()
        (first, a), (second, b) = self._typed(), self._typed()
        joined = binary_dtype("unify", first, second).name
        self._emit(f"{name} = {a}")
        self._emit(f"for _ in range({self.wide(0)} % 3):")
        self._emit(f'    {name}: "{JOIN}{joined}"')
        self._emit(f"    singles[i] += {name} * y[i]")
        self._emit(f"    {name} = {b}")
        self._emit(f'{name}: "{JOIN}{joined}"')
        self._emit(f"doubles[i] += {name} * y[i]")

    def over_elements(self, depth):
        """Loop over the elements of what the thread may read."""
        self._emit(
            self._one(
                "for k0, value in enumerate((s, a0, a1)):",
                "for k0, value in zip((s, a1, 3), (a2, a0, 4)):",
            )
        )
        self._emit("    a0 = a0 * 3 + value * (k0 + 1)")
        self._loop(depth)

    def leave(self, _depth):
        """Leave a loop, an iteration, or rarely the kernel, under a condition."""
        ways = ("break", "continue") * (3 if self._loops else 0)
        if self._may_return:
            ways += ("return",)
        if not ways or (not self._loops and self._number(0, 2)):
            self.store(0)
            return
        self._emit(f"if {self.condition()}:")
        self._indent += 1
        if self._number(0, 2) == 0:
            self.update(0)
        self._emit(self._one(*ways))
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
        bounds = self._call(
            lambda: str(self._number(0, 4)),
            lambda: "s % 4",
            lambda: f"{self.wide(1)} % 4",
            lambda: f"{self.wide(1)} % 3, {self.wide(1)} % 6",
            lambda: f"{self.wide(0)} % 5, -1, {-self._number(1, 3)}",
            lambda: f"3, {self.wide(0)} % 4, -1 if {self.condition(0)} else 2",
        )
        self._emit(f"for {self._one('k0', 'k1', 'k2')} in range({bounds}):")
        self._loop(depth)

    def while_loop(self, depth):
        counter = f"w{depth - 1}"
        self._emit(f"{counter} = 0")
        limit = self._one("3", f"{self.wide(1)} % 5")
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
