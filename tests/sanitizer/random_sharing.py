"""Random kernels in which threads share memory; about half of them race.

Each step is written right at first: own elements are written, and what others wrote is
read behind a barrier that orders it. Then barriers and guards are left out at random.
"""

import random

from hypothesis import strategies as st

HEAD = '''\
"""A random kernel, written by tests/sanitizer/random_sharing.py."""
from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import float32, float64, int8, int16, int32, int64


@cuda.jit
def first(fresh, stride, shift):
    i = cuda.grid(1)
    if i * stride + shift < fresh.size:
        fresh[i * stride + shift] = i


@cuda.jit
def kernel(g, h, once, counts, p, fresh):
    t = cuda.threadIdx.x + cuda.threadIdx.y * cuda.blockDim.x
    threads = cuda.blockDim.x * cuda.blockDim.y
    b = cuda.blockIdx.x + cuda.blockIdx.y * cuda.gridDim.x
    i = b * threads + t
    total = threads * cuda.gridDim.x * cuda.gridDim.y
    lane, w = t % 32, t // 32
    s = cuda.shared.array(96, int32)
    z = cuda.shared.array(96, float32)
    tile = cuda.shared.array((12, 8), int16)
    c = cuda.shared.array(4, int32)
    words = cuda.shared.array(0, int32)
    octets = cuda.shared.array(0, int8)
    doubles = cuda.shared.array(0, float64)
    mine = cuda.local.array(4, int32)
    v = int64(t)
'''
DYNAMIC_BYTES = 96 * 8
GRIDS = (1, 2, 2, 3, (2, 1), (1, 3))
BLOCKS = (32, 32, 48, 64, 96, (8, 8), (16, 3))
OWN_SHARED = ("s[t]", "z[t]", "tile[t // 8, t % 8]")


class Sharing:
    """Writes one kernel.

    Args:
        draw: a `random.Random`; every choice is drawn from it.
    """

    def __init__(self, draw):
        self._draw = draw
        self._lines = []
        self._indent = 1
        self.is_grid = draw.random() < 0.25  # has grid barriers
        self._dropped = draw.choice((0, 0, 0.15, 0.4, 1))  # of barriers
        self._unguarded = draw.choice((0, 0, 0.15, 0.4))  # of elements

    def source(self):
        """Write the source of a module with `first` and `kernel`."""
        if self.is_grid:
            self._emit("grid = cuda.cg.this_grid()")
        for _ in range(self._draw.randint(2, 5)):
            self._step()
        self._emit("once[i] = v")
        return HEAD + "".join(f"{line}\n" for line in self._lines)

    # Words.

    def _one(self, *choices):
        return self._draw.choice(choices)

    def _emit(self, line):
        self._lines.append("    " * self._indent + line)

    def _number(self, low, high):
        return self._draw.randint(low, high)

    def _value(self):
        return self._one("v % 100", "t", "i + 1", "7", "v % 3", "b + 1", "w")

    def _any(self, size):
        """Write an index below a size."""
        k = self._number(1, 40)
        index = self._one(
            "t", "i", f"(t + {k})", f"(t * {2 * k + 1})", f"{k}", f"(w + {k})", "b",
            "lane", f"(t // {k})", f"int64(p[(t + {k}) % p.size])", f"abs(v + {k})",
        )  # fmt: skip
        return f"{index} % {size}"

    def _shared(self):
        """Write an element of shared memory, anybody's."""
        if self._draw.random() < 0.25:
            return f"tile[{self._any('(threads // 8)')}, {self._any(8)}]"
        return f"{self._one('s', 'z')}[{self._any('threads')}]"

    def _own(self, own, others):
        """Write the own element, or now and then another's."""
        return others if self._draw.random() < self._unguarded else own

    # Barriers, which are left out now and then.

    def _sync(self, kinds=("block", "block", "count")):
        if self._draw.random() < self._dropped:
            return
        kind = self._one(*kinds)
        if kind == "count":
            self._emit("v += cuda.syncthreads_count(int32(lane < 9))")
        else:
            self._emit({"block": "cuda.syncthreads()", "grid": "grid.sync()"}[kind])

    def _sync_warp(self, mask=""):
        if self._draw.random() < self._dropped:
            self._emit("v += 1")
        else:
            self._emit(f"cuda.syncwarp({mask})")

    # Steps.

    def _step(self, depth=2):
        steps = [
            self._exchange, self._exchange, self._in_warp, self._in_half_warps,
            self._global, self._count, self._local, self._views, self._one_for_all,
            self._fresh, self._once,
        ]  # fmt: skip
        if self.is_grid:
            steps += [self._over_the_grid] * 4
        elif depth == 2:
            steps += [self._leave]
        if depth:
            steps += [lambda: self._loop(depth), lambda: self._branch(depth)]
        self._draw.choice(steps)()

    def _exchange(self):
        """Write one's own element, read anybody's."""
        own = self._one(*OWN_SHARED)
        self._emit(f"{self._own(own, self._shared())} = {self._value()}")
        self._sync()
        self._emit(f"v += int64({own.partition('[')[0] + self._same_shape(own)})")
        self._sync()

    def _same_shape(self, own):
        if own.startswith("tile"):
            return f"[{self._any('(threads // 8)')}, {self._any(8)}]"
        return f"[{self._any('threads')}]"

    def _in_warp(self):
        """Exchange within a warp."""
        name, k = self._one("s", "z"), self._number(1, 31)
        whole = "w * 32 + (lane + {}) % min(32, threads - w * 32)"
        self._emit(f"{name}[{self._own('t', self._any('threads'))}] = {self._value()}")
        self._sync_warp()
        self._emit(f"v += int64({name}[{whole.format(k)}])")
        self._sync_warp()

    def _in_half_warps(self):
        """Exchange within each half of a warp, in branches of their own."""
        k = self._number(1, 15)
        for head, mask, shift in (
            ("if lane < 16:", "0xffff", 0),
            ("else:", "0xffff0000", 16),
        ):
            self._emit(head)
            self._indent += 1
            self._emit(f"s[{self._own('t', self._any('threads'))}] = {self._value()}")
            self._sync_warp(mask)
            self._emit(f"v += s[(w * 32 + {shift} + (lane + {k}) % 16) % threads]")
            self._sync_warp(mask)
            self._indent -= 1

    def _global(self):
        name = self._one("g", "h")
        index = self._own("i", self._any("total"))
        self._emit(
            self._one(
                f"{name}[{index}] = {self._value()}",
                f"{name}[{index}] += 1",
                f"v += int64({name}[{index}])",
            )
        )

    def _count(self):
        """Count with atomics, and read the counts; or only count."""
        if self._draw.random() < 0.5:
            index = self._own(self._any("counts.size"), self._any("counts.size"))
            self._emit(f"cuda.atomic.add(counts, {index}, 1)")
            if self._draw.random() < self._unguarded:
                self._emit(f"v += counts[{self._any('counts.size')}]")
            return
        self._emit("if t < 4:")
        self._emit("    c[t] = 0")
        self._sync()
        self._emit(f"cuda.atomic.{self._one('add', 'max')}(c, {self._any(4)}, 2)")
        self._sync()
        self._emit(f"v += c[{self._any(4)}]")
        self._sync()

    def _local(self):
        self._emit(f"for k in range({self._number(1, 4)}):")
        self._emit("    mine[k] = k")
        self._emit(f"v += mine[{self._any(4)}]")

    def _views(self):
        """Write dynamic shared memory as one type, and read it as another."""
        a, b = self._draw.sample(["words", "octets", "doubles"], 2)
        self._emit(f"{a}[{self._own('t', self._any('threads'))}] = {self._value()}")
        self._sync()
        self._emit(f"v += int64({b}[{self._any('threads')}] == 3)")
        self._sync()

    def _one_for_all(self):
        """One thread writes what all read, or all write the same."""
        k = self._number(0, 3)
        value = self._one("5", "b + 2", self._value())
        if self._draw.random() < 0.8:
            self._emit(f"if t == {self._one('0', 'threads - 1')}:")
            self._emit(f"    c[{k}] = {value}")
        else:
            self._emit(f"c[{k}] = {value}")
        self._sync()
        self._emit(f"v += c[{k}]")
        self._sync()

    def _fresh(self):
        """Read memory that is written in part, or write some of it."""
        self._emit(
            self._one(
                f"v += int64(fresh[{self._any('fresh.size')}] == 1)", "fresh[i] = v"
            )
        )

    def _once(self):
        """All threads read one element; one of the threads writes it."""
        self._emit(f"v += once[{self._number(0, 2)} * threads]")
        self._sync()
        self._emit(f"once[{self._own('i', self._any('once.size'))}] = v")

    def _over_the_grid(self):
        name = self._one("g", "h")
        index = self._own("i", self._any("total"))
        self._emit(f"{name}[{index}] = {self._value()}")
        self._sync(("grid", "grid", "grid", "block"))
        self._emit(f"v += int64({name}[{self._any('total')}])")
        self._sync(("grid", "grid", "grid", "block"))

    def _leave(self):
        """A whole block returns."""
        self._emit(f"if b == {self._number(0, 2)}:")
        self._emit("    return")

    def _loop(self, depth):
        self._emit(f"for _ in range({self._number(2, 3)}):")
        self._indent += 1
        self._step(depth - 1)
        self._indent -= 1

    def _branch(self, depth):
        """Some threads do one thing, the others another, without barriers."""
        del depth
        test = self._one("t % 3 == 0", "w == 0", "lane < 16", "v % 2 == 0", "b == 0")
        steps = (self._global, self._local, self._fresh)
        self._emit(f"if {test}:")
        self._indent += 1
        self._one(*steps)()
        self._indent -= 1
        if self._number(0, 1):
            self._emit("else:")
            self._indent += 1
            self._emit(f"{self._shared()} = {self._value()}")
            self._indent -= 1


def sharing_kernel(seed):
    """Write a kernel: its source, and how it is launched.

    Returns:
        The source, grid, block, and for `first` its stride and shift.
    """
    draw = random.Random(seed)
    source = Sharing(draw).source()
    shape = draw.choice(GRIDS), draw.choice(BLOCKS)
    return source, *shape, (draw.randint(1, 2), draw.randint(0, 1))


def sharing_kernels():
    """Draw a kernel; drawn as a seed, kernels differ."""
    return st.integers(0, 2**64 - 1).map(sharing_kernel)
