"""`simgpu check` runs a program, prints what is wrong, and tells it by its exit code."""

import json

import pytest

CLEAN = """
    import numpy as np
    from tinytorch_gpu import cuda

    @cuda.jit
    def double(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] = x[i] + x[i]

    x = cuda.to_device(np.ones(20, np.float32))
    double[2, 32](x)
    double[1, 32](x)
    print(x.copy_to_host().sum())
"""
RACE = """
    import sys
    import numpy as np
    from tinytorch_gpu import cuda

    @cuda.jit
    def total(x, out):
        out[0] += x[cuda.threadIdx.x]

    out = cuda.to_device(np.zeros(1, np.float32))
    total[1, 64](cuda.to_device(np.ones(64, np.float32)), out)
    sys.exit(3 if "quit" in sys.argv else 0)
"""
FAULT = CLEAN.replace("if i < x.size", "if True")
RAISES = CLEAN + "\n    raise ValueError('mine')\n"
QUITS = CLEAN + "\n    import sys\n    sys.exit(int(sys.argv[1]))\n"


@pytest.fixture
def check(python, write):
    """Return a function that checks a program in a process of its own."""

    def run(text, *words, arguments=()):
        write({"lesson.py": text})
        command = ("-m", "tinytorch_gpu.cli", "check")
        return python(*command, *words, "lesson.py", *arguments)

    return run


def test_a_right_program(check):
    done = check(CLEAN)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "80.0\n\nNo errors, no warnings, no notes in 2 launches of 1 kernel\n"
    )


def test_errors_are_printed_and_end_it_with_1(check):
    done = check(RACE)
    assert (done.returncode, done.stderr) == (1, "")
    assert "in 1 launch of 1 kernel" in done.stdout
    assert "total, line 8:    out[0] += x[cuda.threadIdx.x]" in done.stdout
    assert "[racecheck]" in done.stdout
    assert check(RACE, arguments=["quit"]).returncode == 1


def test_a_fault_is_a_finding_and_its_traceback_follows(check):
    done = check(FAULT)
    assert done.returncode == 1
    assert "past the end of `x`" in done.stdout
    assert "[memcheck]" in done.stdout
    assert done.stderr.startswith("Traceback (most recent call last):\n")
    first = done.stderr.splitlines()[1]
    assert "lesson.py" in first
    assert "OutOfBoundsError: " in done.stderr


def test_a_programs_own_exception(check):
    done = check(RAISES)
    assert done.returncode == 1
    assert done.stdout.endswith("in 2 launches of 1 kernel\n")
    assert done.stderr.endswith("ValueError: mine\n")


@pytest.mark.parametrize("code", ["0", "5"])
def test_a_program_that_ends_itself_keeps_its_exit_code(check, code):
    done = check(QUITS, arguments=[code])
    assert (done.returncode, done.stderr) == (int(code), "")


def test_a_program_that_ends_itself_with_a_message(check):
    for text in (QUITS.replace("int(sys.argv[1])", "'bye'"), RACE):
        done = check(text.replace('3 if "quit" in sys.argv else 0', "'bye'"))
        assert (done.returncode, done.stderr) == (1, "bye\n")


def test_ctrl_c_prints_what_was_found_so_far(check):
    done = check(RACE.replace("sys.exit(", "raise KeyboardInterrupt\n    print("))
    assert done.returncode == 130
    assert "[racecheck]" in done.stdout
    assert done.stderr.endswith("KeyboardInterrupt\n")


def test_the_report_as_json(check, tmp_path):
    check(RACE, "--json", "report.json")
    text = (tmp_path / "report.json").read_text(encoding="utf-8")
    report = json.loads(text)
    assert all(line.count('": ') <= 1 for line in text.splitlines())
    assert max(map(len, text.splitlines())) < 2000
    assert text.count("\n") < 40 * len(report["findings"]) + 10
    assert (report["launches"], report["kernels"]) == (1, ["total"])
    assert report["is_clean"] is False
    assert {f["kind"] for f in report["findings"] if f["level"] == "error"} == {"race"}


def test_orders_and_leaks_on_request(check):
    plain = check(CLEAN).stdout
    noted = check(CLEAN, "--leak-check").stdout
    assert "still held" not in plain
    assert "lesson.py, line 11:    x = cuda.to_device(" in noted
    done = check(RACE, "--schedule", "shuffled", "--seeds", "2")
    assert done.returncode == 1
    assert "order_dependence" in done.stdout or "[racecheck]" in done.stdout


def test_as_numba(check):
    text = CLEAN.replace("from tinytorch_gpu import", "from numba import")
    assert check(text, "--as-numba").returncode == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--seeds", "0"], "0 is no whole number of 1 or more"),
        (["--seeds", "x"], "x is no whole number of 1 or more"),
        (["--schedule", "sideways"], "invalid choice: 'sideways'"),
        (["--json", "no/where.json"], "no/where.json cannot be written"),
        (["--gpu", "zzz"], "GPUNotFoundError"),
    ],
)
def test_wrong_words_end_it_with_2(check, words, told):
    done = check(CLEAN, *words)
    assert done.returncode == 2
    assert told in done.stderr
