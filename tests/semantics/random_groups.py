"""Random statements in which all threads of a block, or lanes of a warp, take part.

They stand where every thread comes: at the top of a kernel, or in a loop or branch that
is the same for all threads. A shared array is written by each thread at its own element,
and read between two barriers.
"""

from tests.semantics.random_statements import Statements

SHARED = {"int64": "tile_i", "float32": "tile_f", "float64": "tile_d"}


class Groups(Statements):
    """Writes kernels of whole warps, in which no thread leaves early."""

    def __init__(self, number):
        super().__init__(number, may_return=False)
        self._cells = 0

    def group(self):
        """Write one statement of all threads."""
        self._one(
            self.shuffle,
            self.shuffle,
            self.vote,
            self.match,
            self.exchange,
            self.exchange,
            self.counted_barrier,
            self.shared_atomics,
            self.ticket,
            self.same_for_all,
        )()

    def _lane(self):
        return f"{self.wide(1)} % 32"

    def shuffle(self):
        target, value = self._one(
            ("a0", self.wide(1)),
            ("a1", f"int32({self.integer(1)})"),
            ("f0", self.single(1)),
            ("d0", self.double(1)),
        )
        kind = self._one("shfl", "shfl_up", "shfl_down", "shfl_xor")
        text = f"cuda.{kind}_sync(0xffffffff, {value}, {self._lane()})"
        self._emit(
            f"{target} = int64({text})" if target == "a1" else f"{target} = {text}"
        )

    def vote(self):
        kind = self._one("ballot", "all", "any", "eq")
        text = f"cuda.{kind}_sync(0xffffffff, int32({self.condition(1)}))"
        self._emit(f"a2 = a2 * 3 + int64({text})")

    def match(self):
        value = f"int32({self.wide(1)} % 3)"
        if self._number(0, 1):
            self._emit(f"a1 = int64(cuda.match_any_sync(0xffffffff, {value}))")
        else:
            self._emit(f"k1, same = cuda.match_all_sync(0xffffffff, {value})")
            self._emit("k1 = int64(k1) + same")

    def exchange(self):
        """Write one's own element, and read any after a barrier."""
        kind, value = self._typed()
        tile, target = SHARED[kind], {"int64": "a1", "float32": "f1", "float64": "d1"}
        self._emit(f"{tile}[t] = {value}")
        self._emit("cuda.syncthreads()")
        self._emit(f"{target[kind]} = {tile}[{self.wide(1)} % 64]")
        self._emit(self._one("cuda.syncthreads()", "a0 += cuda.syncthreads_or(t)"))

    def counted_barrier(self):
        kind = self._one("count", "and", "or")
        self._emit(f"a0 = a0 + cuda.syncthreads_{kind}(int32({self.condition(1)}))")

    def shared_atomics(self):
        """Count into eight shared cells; their order does not matter to integers."""
        operation = self._one("add", "sub", "max", "min", "and_", "or_", "xor")
        self._emit("if t < 8:")
        self._emit("    cells[t] = t * 5 - 9")
        self._emit("cuda.syncthreads()")
        self._emit(f"if {self.condition(1)}:")
        self._emit(
            f"    cuda.atomic.{operation}(cells, {self.wide(1)} % 8, {self.wide(1)})"
        )
        self._emit("cuda.syncthreads()")
        self._emit(f"a2 = cells[{self.wide(1)} % 8]")
        self._emit("cuda.syncthreads()")

    def ticket(self):
        """Take the old value of one cell of this statement, in the order of threads."""
        if self._cells == 8 or self._indent > 1:
            self.counted_barrier()
            return
        cell = self._cells
        self._cells += 1
        self._emit(
            self._one(
                f"a0 = cuda.atomic.add(tickets, {cell}, {self.wide(1)})",
                f"a1 = cuda.atomic.max(tickets, {cell}, {self.wide(1)})",
                f"a2 = cuda.atomic.exch(tickets, {cell}, {self.wide(1)})",
                f"a0 = cuda.atomic.cas(tickets, {cell}, 0, {self.wide(1)})",
                f"cuda.atomic.add(sums, {cell}, {self.double(1)})",
            )
        )

    def same_for_all(self):
        """Write groups in a loop or branch that all threads of a block take alike."""
        if self._indent > 2:
            self.exchange()
            return
        self._emit(
            self._one(
                "for u in range(s % 3):",
                "if cuda.blockIdx.x == 1:",
                "for u in range(2):",
                "if s > 2:",
            )
        )
        self._indent += 1
        for _ in range(self._number(1, 2)):
            self.group()
            self.statement(1)
        self._indent -= 1
