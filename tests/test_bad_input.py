"""Whatever is put in, the answer is an error in four parts, and nothing has changed.

`CASES` is one table: what is done, and the error that has to come. After each, host and
device arrays hold the bytes they held, no device memory is lost, no launch is recorded,
and a correct launch works.
"""

import gc
import importlib.util
import itertools
import textwrap

import numpy as np
import pytest

from tinytorch_gpu import cuda, errors, memory_allocated, settings
from tinytorch_gpu.memory import elements_of
from tinytorch_gpu.runtime import current_device, use_gpu
from tinytorch_gpu.tinytorch import Tensor
from tinytorch_gpu.trace import LaunchRecord

N = 100  # elements of `host` and `device`
HEAD = """\
import math

import numpy as np

from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import float32

TABLE = np.ones(4)
NAMES = "abc"


@cuda.jit(device=True)
def helper(a, b):
    return a + b


@cuda.jit(device=True)
def greedy(t):
    part = cuda.shared.array(20_000, float32)
    part[t] = 1
    return part[t]


@cuda.jit
def kernel(x, out, matrix):
"""
numbers = itertools.count()


@cuda.jit
def add_one(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + 1


@cuda.jit
def fill(x, out, value):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = value


class World:
    """The arrays that must stay as they are, and ways to do something wrong."""

    def __init__(self, folder):
        self.folder = folder
        self.host = np.arange(N, dtype=np.float32)
        self.device = cuda.to_device(np.arange(N, dtype=np.float32) * 2)
        self.matrix = cuda.to_device(np.zeros((8, 4), np.float32))

    def kernel(self, body):
        """Return a kernel with this body; parameters are x, out, matrix."""
        name = f"bad_input_{next(numbers)}"
        path = self.folder / f"{name}.py"
        path.write_text(HEAD + textwrap.indent(textwrap.dedent(body).strip(), "    "))
        spec = importlib.util.spec_from_file_location(name, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.kernel

    def launch(self, body):
        """Run a body in 4 × 32 threads, x on the host, out on the device."""
        self.kernel(body)[4, 32](self.host, self.device, self.matrix)

    def state(self):
        """Everything that a fault must leave as it was."""
        on_device = [elements_of(a).tobytes() for a in (self.device, self.matrix)]
        return [self.host.tobytes(), *on_device]


def body(text):
    return lambda world: world.launch(text)


def budget(text):
    def act(world):
        with settings.override(loop_budget=100):
            world.launch(text)

    return act


def in_batches(text):
    def act(world):
        with settings.override(batch_lanes=32):
            world.launch(text)

    return act


def configured(*configuration):
    return lambda w: add_one[configuration](w.host, w.device)


def given(*arguments):
    return lambda w: add_one[4, 32](*arguments)


def second(argument):
    """Give a good host array first: it must not be copied before all is checked."""
    return lambda w: fill[4, 32](w.host, w.device, argument)


def dtype(host):
    return lambda w: add_one[1, 32](host, w.device)


def on_toy(act):
    def do(world):
        gc.collect()  # arrays of earlier tests, or the toy may be too small for them
        use_gpu("toy")
        act(world)

    return do


OUT_OF_BOUNDS = {
    "load past the end": body("i = cuda.grid(1)\nout[0] = x[i]"),
    "store past the end": body("i = cuda.grid(1)\nout[i] = 1"),
    "past the end after good stores": body(
        """
        i = cuda.grid(1)
        if i < 50:
            out[i] = -1
            x[i] = -1
            matrix[i % 8, 0] = -1
        out[i + 50] = 3
        """
    ),
    "past the end in a later batch": in_batches("i = cuda.grid(1)\nout[i] = -1"),
    "before the start, after the one wrap": body("out[-out.size - 1] = 1"),
    "axis 1 though inside the allocation": body("matrix[0, 7] = 1"),
    "axis 0 of a matrix": body("matrix[8, 0] = 1"),
    "past the end of a row view": body("row = matrix[1]\nrow[4] = 1"),
    "row out of bounds": body("row = matrix[cuda.grid(1)]\nrow[0] = 1"),
    "shared array": body(
        "part = cuda.shared.array(16, float32)\npart[cuda.threadIdx.x] = 1"
    ),
    "augmented store": body("out[cuda.grid(1)] += 1"),
    "in a ternary": body("out[0] = x[cuda.grid(1)] if x.size > 0 else 0"),
}

BARRIERS = {
    "barrier in a branch": body("if cuda.threadIdx.x < 10:\n    cuda.syncthreads()"),
    "barrier in a branch after stores": body(
        """
        i = cuda.grid(1)
        if i < out.size:
            out[i] = -5
        if i % 2:
            cuda.syncthreads()
        """
    ),
    "barriers in both branches": body(
        """
        if cuda.threadIdx.x < 10:
            cuda.syncthreads()
        else:
            cuda.syncthreads()
        """
    ),
    "barrier in a loop of each lane": body(
        "for k in range(cuda.threadIdx.x):\n    cuda.syncthreads()"
    ),
    "barrier after a break": body(
        """
        for k in range(4):
            if k == cuda.threadIdx.x:
                break
            cuda.syncthreads()
        """
    ),
}

UNDEFINED = {
    "stored": body("if out.size < 0:\n    v = 1\nout[0] = v"),
    "computed with": body("if x[0] > 1e9:\n    v = 1\nout[0] = v + 1"),
    "as an index": body("for v in range(0):\n    pass\nout[v] = 1"),
    "as a condition": body("while out.size < 0:\n    v = 1\nif v:\n    out[0] = 1"),
    "as a bound": body(
        "if out.size < 0:\n    v = 1\nfor k in range(v):\n    out[0] = 1"
    ),
    "as an argument": body("if out.size < 0:\n    v = 1\nout[0] = helper(v, 1)"),
    "as an array": body("if out.size < 0:\n    v = x\nout[0] = v[0]"),
}

UNINITIALIZED = {
    "before every assignment": body("out[0] = v\nv = 1"),
    "of a function that returns nothing": body("out[0] = max(helper(1, 2), late)\nlate = 1"),
}  # fmt: skip

BUDGET = {
    "while True": budget("while True:\n    out[0] = 1"),
    "while of each lane": budget("k = 0\nwhile k <= cuda.grid(1):\n    out[0] = k"),
    "for of each lane": budget("for k in range(cuda.grid(1) * 1000):\n    out[0] = k"),
    "for with the same bound for all": budget(
        "for k in range(10_000):\n    out[0] = k"
    ),
}

SYNTAX = {
    "list": "v = [1, 2]",
    "dict": "v = {1: 2}",
    "set": "v = {1, 2}",
    "try": "try:\n    pass\nfinally:\n    pass",
    "with": "with x:\n    pass",
    "f-string": "v = f'{i}'",
    "string": "v = 'text'",
    "list comprehension": "v = [k for k in range(3)]",
    "generator expression": "v = sum(k for k in range(3))",
    "lambda": "v = lambda: 1",
    "walrus": "v = (w := 1)",
    "yield": "yield",
    "nested function": "def inner():\n    pass",
    "class": "class Inner:\n    pass",
    "import": "import math",
    "del": "del i",
    "global": "global TABLE",
    "keyword call": "v = max(i, key=1)",
    "keyword call of range": "for k in range(0, 4, step=2):\n    pass",
    "starred call": "v = max(*x)",
    "starred target": "v, *w = i, i, i",
    "captured string": "v = NAMES",
    "undefined name": "v = nowhere + 1",
    "misspelt name": "cuda.syncthread()",
    "misspelt value": "v = cuda.threadIdx.w",
    "a very large integer": "v = i + 10**20",
    "a loop over nothing": "for v in ():\n    pass",
    "undefined function": "v = nowhere(1)",
    "NumPy function": "v = np.dot(x, x)",
    "method": "v = x.sum()",
    "a value returned": "return i",
    "matrix product": "v = x @ x",
    "in an array": "v = i in x",
    "complex number": "v = 1j",
    "attribute assigned": "x.size = 3",
    "unused expression": "i + 1",
    "shape of a shared array from an argument": "v = cuda.shared.array(x.size, float32)",
    "shared array of a negative shape": "v = cuda.shared.array(-4, float32)",
    "shared array of a fractional shape": "v = cuda.shared.array(2.5, float32)",
    "shared array of an unknown dtype": "v = cuda.shared.array(4, 'floaty')",
    "an empty tuple": "v = ()",
}

TYPES = {
    "arithmetic on arrays": "out[0] = x + out",
    "arithmetic on an array and a number": "out[0] = x * 2",
    "arithmetic on None": "out[0] = None + 1",
    "arithmetic on a tuple": "out[0] = (1, 2) + 1",
    "an array as condition": "if x:\n    out[0] = 1",
    "an array stored": "out[0] = x",
    "a row stored": "out[0] = matrix[0]",
    "None stored": "out[0] = None",
    "a float index": "out[0] = x[1.5]",
    "for into a tuple": "for v, w in range(3):\n    out[0] = 1",
    "over a number": "for v in 5:\n    out[0] = 1",
    "shared array of no dtype": "v = cuda.shared.array(4)",
    "a keyword that does not exist": "out[0] = helper(a=1, c=1)",
    "an argument given twice": "out[0] = helper(1, a=1)",
    "a printed array": "print(x)",
    "arrays of two types": "v = x\nif out.size:\n    v = matrix\nout[0] = v[0]",
    "a computed float index": "out[cuda.grid(1) / 2] = 1",
    "an index too many": "out[0] = x[0, 0]",
    "a number indexed": "out[0] = cuda.grid(1)[0]",
    "a tuple of two types indexed by a lane": "v = (1, 2.5)\nout[0] = v[cuda.threadIdx.x % 2]",
    "a tuple indexed outside by a lane": "v = (1, 2)\nout[0] = v[cuda.threadIdx.x]",
    "a tuple indexed outside": "out[0] = x.shape[3]",
    "an unknown attribute": "out[0] = x.T",
    "a float bound": "for k in range(2.5):\n    out[0] = 1",
    "a step of 0": "for k in range(0, 4, 0):\n    out[0] = 1",
    "a step of 0 in some lanes": "for k in range(0, 4, cuda.threadIdx.x):\n    out[0] = 1",
    "range of nothing": "for k in range():\n    out[0] = 1",
    "range of four": "for k in range(0, 1, 1, 1):\n    out[0] = 1",
    "a bit operation on floats": "out[0] = x[0] & 1",
    "a shift of floats": "out[0] = x[0] << 1",
    "grid of four axes": "out[0] = cuda.grid(4)",
    "grid of nothing": "out[0] = cuda.grid()",
    "a number unpacked": "a, b = x[0]\nout[0] = a",
    "lanes unpacked": "a, b = cuda.grid(1)\nout[0] = a",
    "too few to unpack": "a, b, c = cuda.grid(2)\nout[0] = a",
    "too many to unpack": "a, b = cuda.grid(3)\nout[0] = a",
    "abs of two": "out[0] = abs(1, 2)",
    "min of one": "out[0] = min(1)",
    "sqrt of nothing": "out[0] = math.sqrt()",
    "sqrt of an array": "out[0] = math.sqrt(x)",
    "a device function with too few arguments": "out[0] = helper(1)",
    "a device function with too many arguments": "out[0] = helper(1, 2, 3)",
}  # fmt: skip

CONFIGURATIONS = {
    "no block": (4, 0),
    "no grid": (0, 32),
    "negative": (4, -32),
    "1025 threads": (1, 1025),
    "1025 threads in x": (1, (1025, 1)),
    "1056 threads in all": (1, (33, 32)),
    "block z of 65": (1, (1, 1, 65)),
    "grid y of 65,536": ((1, 65_536), 32),
    "grid x of 2**31": (2**31, 32),
    "four axes": ((1, 1, 1, 1), 32),
    "no axes": ((), 32),
    "five parts": (1, 32, 0, 0, 0),
}

NO_CONFIGURATIONS = {
    "float grid": (100 / 32, 32),
    "float block": (4, 32.0),
    "bool": (True, 32),
    "None": (None, 32),
    "string": ("4", 32),
    "an array": (np.array([4, 1]), 32),
    "a stream that is none": (4, 32, 7),
}

ARGUMENTS = {
    "none at all": given(),
    "one too few": lambda w: add_one[4, 32](w.host),
    "one too many": lambda w: add_one[4, 32](w.host, w.device, 1),
    "a list": second([1.0, 2.0]),
    "a string": second("text"),
    "a dict": second({}),
    "a Tensor": second(Tensor([1.0, 2.0])),
    "a complex number": second(1j),
    "a NumPy complex number": second(np.complex64(1)),
    "a NumPy string": second(np.str_("text")),
    "a NumPy date": second(np.datetime64("2024-01-01")),
    "a number of more than 64 bits": second(2**70),
    "a function": second(len),
}

DTYPES = {
    name: dtype(np.zeros(N, given_dtype))
    for name, given_dtype in {
        "complex64": "complex64",
        "object": object,
        "string": "U3",
        "big-endian": ">f4",
        "date": "datetime64[s]",
        "record": [("a", "i4")],
        "long double": np.longdouble,
    }.items()
}

SHARED = {
    "one array": "part = cuda.shared.array(12_289, float32)\nout[0] = part[0]",
    "two arrays": """
        a = cuda.shared.array(6_145, np.float64)
        b = cuda.shared.array((64, 64), float32)
        out[0] = a[0] + b[0, 0]
        """,
    "in a device function": "out[0] = greedy(cuda.threadIdx.x)",
}


def table(error, cases, wrap=lambda case: case):
    return {f"{error.__name__}: {n}": (error, wrap(c)) for n, c in cases.items()}


CASES = {
    **table(errors.OutOfBoundsError, OUT_OF_BOUNDS),
    **table(errors.BarrierDivergenceError, BARRIERS),
    **table(errors.KernelWarning, UNDEFINED),
    **table(errors.UninitializedReadError, UNINITIALIZED),
    **table(errors.StepBudgetError, BUDGET),
    **table(errors.KernelSyntaxError, SYNTAX, lambda t: body("i = 0\n" + t)),
    **table(errors.KernelTypeError, TYPES, body),
    **table(errors.LaunchConfigError, CONFIGURATIONS, lambda c: configured(*c)),
    **table(errors.KernelTypeError, NO_CONFIGURATIONS, lambda c: configured(*c)),
    **table(errors.KernelTypeError, ARGUMENTS),
    **table(errors.DtypeError, DTYPES),
    **table(errors.SharedMemoryLimitError, SHARED, body),
    **table(
        errors.LaunchConfigError,
        {
            "no configuration": lambda w: add_one(w.host, w.device),
            "one part": lambda w: add_one[4](w.host, w.device),
        },
    ),
    **table(
        errors.UnsupportedError,
        {
            "an unknown option": lambda _: cuda.jit(link="x.cu"),
            "a view by an index array": lambda w: w.device.part([0, 1]),
        },
    ),
    **table(
        errors.OutOfMemoryError,
        {
            "a host array": on_toy(
                lambda w: add_one[4, 32](np.zeros(2**19, np.float32), w.device)
            ),
            "the second host array": on_toy(
                lambda _: add_one[4, 32](*np.zeros((2, 2**17 + 2**16), np.float32))
            ),
            "a device array": on_toy(lambda _: cuda.device_array(2**18)),
            "to_device": on_toy(lambda _: cuda.to_device(np.zeros(2**20))),
        },
    ),
    **table(
        errors.HostAccessError,
        {
            "asarray": lambda w: np.asarray(w.device),
            "array": lambda w: np.array(w.device),
        },
    ),
    **table(
        errors.DtypeError,
        {
            "to_device": lambda _: cuda.to_device(np.zeros(3, complex)),
            "to_device of text": lambda _: cuda.to_device(["a"]),
            "device_array": lambda _: cuda.device_array(3, object),
            "a shared array": body(
                "part = cuda.shared.array(4, np.complex64)\nout[0] = 1"
            ),
        },
    ),
    **table(
        errors.KernelSyntaxError,
        {
            "grid on the host": lambda _: cuda.grid(1),
            "barrier on the host": lambda _: cuda.syncthreads(),
            "shared array on the host": lambda _: cuda.shared.array(3, np.float32),
        },
    ),
}
BEFORE_ANYTHING = (
    errors.LaunchConfigError,
    errors.KernelSyntaxError,
    errors.DtypeError,
    errors.SharedMemoryLimitError,
)


@pytest.fixture
def world(tmp_path):
    made = World(tmp_path)
    yield made
    use_gpu("t4")


@pytest.fixture
def records(world):
    """Return the list that records go to."""
    told = []
    current_device().timeline.listeners.append(told.append)
    yield told
    current_device().timeline.listeners.clear()


def error_of(act, world):
    """Return the error without its traceback, which would keep arrays alive."""
    try:
        act(world)
    except Exception as error:  # noqa: BLE001
        error.__context__ = None
        return error.with_traceback(None)
    return None


@pytest.mark.parametrize(("kind", "act"), CASES.values(), ids=CASES)
def test_it_is_refused_in_four_parts_and_nothing_has_changed(world, records, kind, act):
    before, allocated = world.state(), memory_allocated()
    error = error_of(act, world)
    assert type(error) is kind, error
    assert all((error.what, error.where, error.why, error.fix)), error
    assert len(str(error).splitlines()) <= 12
    assert world.state() == before
    assert memory_allocated() <= allocated  # garbage of other tests may go meanwhile
    assert not [r for r in records if isinstance(r, LaunchRecord)]
    if isinstance(error, BEFORE_ANYTHING):
        assert not records
    use_gpu("t4")
    add_one[4, 32](world.device, world.host)
    assert (world.host == np.arange(N) * 2 + 1).all()


@pytest.mark.parametrize("act", ARGUMENTS.values(), ids=ARGUMENTS)
def test_no_argument_is_copied_before_all_are_checked(world, records, act):
    error_of(act, world)
    assert not records


@pytest.mark.parametrize("act", [c for _, c in CASES.values()], ids=CASES)
def test_the_device_clock_counts_no_launch_that_faults(world, act):
    timeline = current_device().timeline
    error_of(act, world)
    if timeline is current_device().timeline:
        assert timeline.device_ns <= timeline.host_ns


@pytest.mark.parametrize("text", SYNTAX.values(), ids=SYNTAX)
def test_a_refused_construct_is_shown_with_line_and_caret(world, text):
    error = error_of(body(text if "i" not in text else "i = 0\n" + text), world)
    line_and_text, caret, file = error.where.split("\n")
    first = text.splitlines()[0]
    assert line_and_text == f"kernel, line {error.line}:    {first}"
    column = caret.index("^") - line_and_text.index(first)
    assert caret.strip() == "^"
    assert 0 <= column < len(first)
    assert file.endswith(".py")
    source = (world.folder / file.rpartition("/")[2]).read_text().splitlines()
    assert source[error.line - 1].strip() == first


def test_the_line_and_the_caret_of_a_known_place(world):
    error = error_of(body("i = 0\nv = 3 * [i]"), world)
    text, caret, _ = error.where.split("\n")
    assert text.endswith("v = 3 * [i]")
    assert text[caret.index("^") :] == "[i]"
