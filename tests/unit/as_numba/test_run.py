"""Programs run as `python` would run them, with our `numba.cuda`."""

import pytest

SCRIPT = """
    import sys
    import neighbour
    from numba import cuda
    print(__name__, sys.argv[1:], cuda.jit.__module__, neighbour.here)
"""
EXPECTED = "__main__ ['a', '--gpu', 'b'] tinytorch_gpu.cuda.jit True\n"
KERNEL = """
    import numpy as np
    from numba import cuda, float32, njit, void

    @njit
    def twice(x):
        return float32(2) * x

    @cuda.jit(void(float32[:]))
    def double(x):
        shared = cuda.shared.array(32, dtype=float32)
        i = cuda.grid(1)
        if i < x.size:
            shared[i] = twice(x[i])
            x[i] = shared[i]

    def test_double():
        x = cuda.to_device(np.arange(3, dtype=np.float32))
        double[1, 32](x)
        assert x.copy_to_host().tolist() == [0, 2, 4]
"""


@pytest.fixture
def script(write):
    write({"sub/script.py": SCRIPT, "sub/neighbour.py": "here = True"})
    return ["sub/script.py", "a", "--gpu", "b"]


@pytest.mark.parametrize(
    "command",
    [
        ["tinytorch_gpu.as_numba"],
        ["tinytorch_gpu.cli", "run", "--as-numba"],
        ["tinytorch_gpu.cli", "run", "--as-numba", "--gpu", "a100"],
    ],
    ids=" ".join,
)
def test_a_script_runs_with_its_arguments_and_neighbours(python, script, command):
    result = python("-m", *command, *script)
    assert (result.stdout, result.stderr) == (EXPECTED, "")


def test_without_as_numba_a_script_gets_the_numba_there_is(python, write):
    write(
        {"numba.py": "cuda = 'the real one'", "s.py": "import numba; print(numba.cuda)"}
    )
    assert python("-m", "tinytorch_gpu.cli", "run", "s.py").stdout == "the real one\n"


def test_a_program_ends_with_its_own_exit_code(python, write):
    write({"s.py": "raise SystemExit(7)"})
    assert python("-m", "tinytorch_gpu.as_numba", "s.py").returncode == 7


def test_the_chosen_gpu_is_modelled(python, write):
    write({"s.py": "import tinytorch_gpu as s; print(s.get_device_name())"})
    result = python("-m", "tinytorch_gpu.as_numba", "--gpu", "rtx3090", "s.py")
    assert "3090" in result.stdout


TRACED = """
    import sys
    from numba import cuda
    import numpy as np

    @cuda.jit
    def double(x):
        i = cuda.grid(1)
        x[i] = 2 * x[i]

    double[2, 32](np.arange(64, dtype=np.float32))
    print(sys.argv[1:])
"""


# 64 lanes × 4 bytes: two warps load and store 4 sectors each.
@pytest.mark.parametrize(
    "command",
    [
        ["cli", "run", "--as-numba", "--trace", "s.py", "a"],
        ["cli", "run", "--as-numba", "s.py", "--trace", "a"],
        ["as_numba", "--trace", "-m", "s", "a"],
    ],
    ids=["before", "after", "module"],
)
def test_trace_prints_the_lines_of_the_launched_kernels(python, write, command):
    write({"s.py": TRACED})
    result = python("-m", f"tinytorch_gpu.{command[0]}", *command[1:])
    own, table = result.stdout.split("\n\n")
    assert (own, result.stderr) == ("['a']", "")
    assert table.startswith("double (s.py:6) on Tesla T4: grid (2, 1, 1) × block (32,")
    rows = [" ".join(line.split()) for line in table.splitlines()]
    assert "load x 4.0 sectors 2 32.0 8 sectors, 256 B/256 B" in rows
    assert "store x 4.0 sectors 2 32.0 8 sectors, 256 B/256 B" in rows


def test_later_words_named_trace_are_the_scripts(python, write):
    write({"s.py": "import sys; print(sys.argv[1:])"})
    result = python("-m", "tinytorch_gpu.cli", "run", "s.py", "a", "--trace")
    assert result.stdout == "['a', '--trace']\n"


def test_a_traced_program_keeps_its_exit_code_and_shows_what_ran(python, write):
    write({"s.py": "raise SystemExit(7)"})
    result = python("-m", "tinytorch_gpu.cli", "run", "s.py", "--trace")
    assert (result.returncode, result.stdout) == (7, "\nno kernel was launched\n")


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (["gone.py"], 2, "gone.py is no file"),
        ([], 2, "one of the arguments -m script is required"),
        (["--gpu", "h900", "s.py"], 2, "no GPU preset is named 'h900'"),
    ],
    ids=["no such file", "nothing", "no such gpu"],
)
@pytest.mark.parametrize(
    "command",
    [["tinytorch_gpu.as_numba"], ["tinytorch_gpu.cli", "run"]],
    ids=["module", "simgpu"],
)
def test_what_cannot_run_is_told_before(python, write, command, words, code, text):
    write({"s.py": ""})
    result = python("-m", *command, *words)
    assert result.returncode == code
    assert text in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["tinytorch_gpu.as_numba", "-m", "pytest"],
        ["pytest", "-p", "tinytorch_gpu.as_numba.plugin"],
    ],
    ids=["as module", "as plugin"],
)
def test_a_test_suite_runs(python, write, words):
    write({"test_kernel.py": KERNEL})
    result = python("-m", *words, "-q", "-p", "no:cacheprovider", "test_kernel.py")
    assert "1 passed" in result.stdout, result.stdout + result.stderr


def test_the_plugin_tells_the_gpu(python, write):
    write({"test_kernel.py": KERNEL})
    plugin = ["-p", "tinytorch_gpu.as_numba.plugin", "--simgpu", "rtx3090"]
    result = python("-m", "pytest", *plugin, "-p", "no:cacheprovider", "test_kernel.py")
    assert "\nnumba.cuda: tinytorch_gpu, a simulated GeForce RTX 3090" in result.stdout
