"""A slow, obviously right interpreter of kernels: one thread after another.

The kernel's own Python function runs once for each thread, so that Python itself does
the control flow. Three things are replaced, because a GPU is not Python:

1. operators and literals, by `binary` and `literal`: numba's types, wrapping integers;
2. arrays, by `Array`: bounds are checked and a store converts as the GPU does;
3. the names of `cuda`, by those of the one thread that runs.

A kernel with barriers becomes a generator that yields at each; all threads of the block
go on to their next barrier in turn.
"""

import ast
import builtins
import functools
import inspect
import itertools
import math
import textwrap
from types import FunctionType, ModuleType, SimpleNamespace

import numpy as np

from tests.semantics.numba_types import binary_dtype, unary_dtype
from tinytorch_gpu import cuda

OPERATORS = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.BitAnd: "and_",
    ast.BitOr: "or_",
    ast.BitXor: "xor",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
}
ON_FLOATS = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "truediv": np.divide,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "pow": np.power,
}
ON_INTEGERS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "floordiv": lambda a, b: a // b if b else 0,
    "mod": lambda a, b: a % b if b else 0,
    "pow": lambda a, b: a**b if b >= 0 else 0,
    "and_": lambda a, b: a & b,
    "or_": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}
ON_ONE = {"neg": lambda a: -a, "pos": lambda a: a, "invert": lambda a: ~a}


# Numbers.


def literal(value):
    """Give a Python number its GPU type: int64, float64 or bool."""
    kinds = {bool: np.bool_, int: np.int64, float: np.float64}
    return kinds[type(value)](value) if type(value) in kinds else value


def cast(value, dtype):
    """Convert a number: integers wrap; floats truncate, clamp, and NaN becomes 0."""
    value, dtype = literal(value), np.dtype(dtype)
    if dtype.kind == "b":
        return np.bool_(value != 0)
    if dtype.kind == "f":
        return dtype.type(value)
    limits = np.iinfo(dtype)
    if value.dtype.kind != "f":
        return wrapped(int(value), dtype)
    if np.isnan(value):
        return dtype.type(0)
    if np.isinf(value):
        return dtype.type(limits.max if value > 0 else limits.min)
    return dtype.type(min(max(int(value), limits.min), limits.max))


def wrapped(number, dtype):
    """Keep the low bits of a Python integer."""
    bits = 8 * dtype.itemsize
    low = number & (2**bits - 1)
    is_negative = dtype.kind == "i" and low >= 2 ** (bits - 1)
    return dtype.type(low - 2**bits if is_negative else low)


def binary(operator, a, b):
    """Compute `a operator b` in the type that numba gives it."""
    a, b = literal(a), literal(b)
    dtype = binary_dtype(operator, a.dtype, b.dtype)
    if operator == "pow" and dtype.kind == "f" and a.dtype == dtype:
        return np.power(a, cast(b, dtype))
    if operator in ("lshift", "rshift"):
        return shift(operator, cast(a, dtype), int(cast(b, np.uint64)), dtype)
    x, y = cast(a, dtype), cast(b, dtype)
    if dtype.kind == "b":
        return np.bool_(ON_INTEGERS[operator](bool(x), bool(y)))
    if dtype.kind == "f":
        return dtype.type(ON_FLOATS[operator](x, y))
    return wrapped(ON_INTEGERS[operator](int(x), int(y)), dtype)


def shift(operator, value, count, dtype):
    """Shift at 64 bits; beyond 63 everything is shifted out."""
    if operator == "lshift":
        return wrapped(int(value) << count if count < 64 else 0, dtype)
    return wrapped(int(value) >> min(count, 64), dtype)


def unary(operator, a):
    """Compute `-a`, `+a` or `~a`."""
    a = literal(a)
    dtype = unary_dtype(operator, a.dtype)
    if dtype.kind == "f":
        return np.negative(a) if operator == "neg" else a
    if dtype.kind == "b":
        return ~a
    return wrapped(ON_ONE[operator](int(cast(a, dtype))), dtype)


def smaller(*values):
    """Return the least in the unified type; a NaN loses."""
    return _fold(np.fmin, values)


def larger(*values):
    """Return the greatest in the unified type; a NaN loses."""
    return _fold(np.fmax, values)


def _fold(function, values):
    result = literal(values[0])
    for value in map(literal, values[1:]):
        dtype = binary_dtype("unify", result.dtype, value.dtype)
        result = function(cast(result, dtype), cast(value, dtype))
    return result


def ranged(*bounds):
    """Count in int64."""
    return map(np.int64, builtins.range(*map(int, bounds)))


def absolute(value):
    return np.abs(literal(value))


def root(value):
    value = literal(value)
    return np.sqrt(cast(value, unary_dtype("math.sqrt", value.dtype)))


def converter(dtype):
    """Return what stands for a type name: it converts, and shared arrays ask it."""
    convert = functools.partial(cast, dtype=dtype)
    convert.element_type = dtype
    return convert


FUNCTIONS = {
    range: ranged,
    min: smaller,
    max: larger,
    abs: absolute,
    math.sqrt: root,
    bool: converter("?"),
    **{t: converter(t) for t in (np.int8, np.int16, np.int32, np.int64)},
    **{t: converter(t) for t in (np.uint8, np.uint16, np.uint32, np.uint64)},
    **{t: converter(t) for t in (np.float16, np.float32, np.float64)},
}


# Memory.


class Array:
    """An array as one thread sees it."""

    def __init__(self, values):
        self.values = values
        self.shape = tuple(map(np.int64, values.shape))
        self.size = np.int64(values.size)
        self.ndim = np.int64(values.ndim)

    def __len__(self):
        return len(self.values)

    def _place(self, index):
        parts = index if isinstance(index, tuple) else (index,)
        lengths = self.values.shape[: len(parts)]
        return tuple(map(self._checked, parts, lengths))

    @staticmethod
    def _checked(index, length):
        index = int(index)
        index += length if index < 0 else 0
        if not 0 <= index < length:
            raise IndexError(index, length)
        return index

    def __getitem__(self, index):
        found = self.values[self._place(index)]
        return Array(found) if isinstance(found, np.ndarray) else found

    def __setitem__(self, index, value):
        place = self._place(index)
        assert len(place) == self.values.ndim
        self.values[place] = cast(value, self.values.dtype)


# The thread, and `cuda`'s names for it.


class Thread:
    """What `cuda` means to the thread that runs now."""

    def __init__(self, grid, block):
        self.gridDim, self.blockDim = map(_triple, (grid, block))
        self.warpsize = np.int32(32)
        self.shared = SimpleNamespace(array=self._shared_array)
        self.blocks_arrays = {}
        self.calls = itertools.count()
        for name in cuda.__all__:
            if isinstance(getattr(cuda, name), type):
                setattr(self, name, FUNCTIONS[getattr(cuda, name)])

    def become(self, block, thread, calls):
        """Be the thread at these coordinates; `calls` counts its shared arrays."""
        self.blockIdx, self.threadIdx, self.calls = (
            _triple(block),
            _triple(thread),
            calls,
        )
        x, y, z = thread
        linear = x + int(self.blockDim.x) * (y + int(self.blockDim.y) * z)
        self.laneid = np.int32(linear % 32)

    def grid(self, ndim):
        return self._axes(lambda t, b, n: np.int64(t) + np.int64(b) * np.int64(n), ndim)

    def gridsize(self, ndim):
        pairs = zip(self.gridDim, self.blockDim, strict=True)
        sizes = tuple(np.int64(g) * np.int64(b) for g, b in pairs)
        return sizes[0] if ndim == 1 else sizes[:ndim]

    def _axes(self, combine, ndim):
        values = tuple(map(combine, self.threadIdx, self.blockIdx, self.blockDim))
        return values[0] if ndim == 1 else values[:ndim]

    def _shared_array(self, shape, dtype):
        """Return the block's array of this call, the n-th one of the thread."""
        lengths = tuple(map(int, shape if isinstance(shape, tuple) else (shape,)))
        fresh = Array(np.zeros(lengths, dtype.element_type))
        return self.blocks_arrays.setdefault(next(self.calls), fresh)


class _Triple(tuple):
    x = property(lambda self: self[0])
    y = property(lambda self: self[1])
    z = property(lambda self: self[2])


def _triple(values):
    return _Triple(map(np.int32, values))


# The function: operators, literals and names replaced.


class _Replace(ast.NodeTransformer):
    def visit_FunctionDef(self, node):
        node.decorator_list = []
        node.args.defaults = []
        for argument in node.args.args:
            argument.annotation = None
        return self.generic_visit(node)

    def visit_AnnAssign(self, node):
        if node.value is None:
            return ast.Pass()
        return self.visit(ast.Assign([node.target], node.value))

    def visit_Constant(self, node):
        return _call("literal", node)

    def visit_BinOp(self, node):
        self.generic_visit(node)
        name = ast.Constant(OPERATORS[type(node.op)])
        return _call("binary", name, node.left, node.right)

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        names = {ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert"}
        if isinstance(node.op, ast.Not):
            return node
        return _call("unary", ast.Constant(names[type(node.op)]), node.operand)

    def visit_AugAssign(self, node):
        read = ast.parse(ast.unparse(node.target), mode="eval").body
        return self.visit(
            ast.Assign([node.target], ast.BinOp(read, node.op, node.value))
        )

    def visit_Expr(self, node):
        if isinstance(node.value, ast.Constant):
            return node
        if ast.unparse(node.value.func).endswith("syncthreads"):
            return ast.Expr(ast.Yield())
        return self.generic_visit(node)


def _call(name, *arguments):
    return ast.Call(ast.Name(f"__{name}__", ast.Load()), list(arguments), [])


def interpreted(function, thread):
    """Return a kernel's Python function with operators, literals, names replaced."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    tree = ast.fix_missing_locations(_Replace().visit(tree))
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    names = dict(vars(builtins)) | dict(function.__globals__)
    names |= {name: cell.cell_contents for name, cell in cells}
    used = set(function.__code__.co_names + function.__code__.co_freevars)
    names = {n: _replaced(v, thread) for n, v in names.items() if n in used}
    operations = {"__literal__": literal, "__binary__": binary, "__unary__": unary}
    names |= operations
    exec(compile(tree, function.__code__.co_filename, "exec"), names)
    return names[function.__name__]


def _replaced(value, thread):
    """Return what stands for a global of the kernel."""
    if value is cuda:
        return thread
    if isinstance(value, ModuleType) and value in (np, math):
        table = {n: FUNCTIONS[v] for n, v in vars(value).items() if _is_known(v)}
        return SimpleNamespace(**table)
    if isinstance(getattr(value, "py_func", None), FunctionType):
        called = functools.cache(lambda: interpreted(value.py_func, thread))
        return lambda *arguments: called()(*arguments)
    return FUNCTIONS[value] if _is_known(value) else value


def _is_known(value):
    try:
        return value in FUNCTIONS
    except TypeError:
        return False


# The launch.


def run(kernel, grid, block, arguments):
    """Run every thread of a launch in turn; NumPy arrays change in place."""
    grid, block = map(_lengths, (grid, block))
    thread = Thread(grid, block)
    function = interpreted(kernel.py_func, thread)
    values = {id(a): Array(a) for a in arguments if isinstance(a, np.ndarray)}
    given = [values.get(id(a), literal(a)) for a in arguments]
    with np.errstate(all="ignore"):
        for block_index in _indices(grid):
            thread.blocks_arrays = {}
            _run_block(function, given, thread, block_index, _indices(block))


def _run_block(function, given, thread, block_index, thread_indices):
    waiting = [(t, itertools.count(), None) for t in thread_indices]
    while waiting:
        arrived = []
        for index, calls, running in waiting:
            thread.become(block_index, index, calls)
            started = function(*given) if running is None else running
            if started is not None and next(started, "end") != "end":
                arrived.append((index, calls, started))
        waiting = arrived


def _lengths(given):
    parts = given if isinstance(given, tuple) else (given,)
    return (*parts, 1, 1)[:3]


def _indices(lengths):
    x, y, z = lengths
    return [(i, j, k) for k in range(z) for j in range(y) for i in range(x)]
