"""The per-line table: the numbers beside the source, and how it fits a width."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tinytorch_gpu.profiler.line_table import line_table
from tinytorch_gpu.trace import AccessCounts, KernelSource, LaunchCounts, SourceLine
from tinytorch_gpu.trace import LineCounts as Line

SOURCE = '''\
def make():
    @jit
    def lesson(x, out):
        """Copy."""
        i = grid(1)
        if i < x.size:
            out[i] = twice(x[i])

    def twice(value):
        return value + value

    return lesson
'''


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "lesson.py"
    path.write_text(SOURCE, "utf-8")
    return str(path)


@pytest.fixture
def line(file):
    """Give the maker of a line's counts: 64 warps run it, 16 lanes of each."""

    def make(number, kernel="lesson", **totals):
        text = SOURCE.splitlines()[number - 1].strip()
        names = ("branches", "divergent_branches", "fp32", "fp64", "integer", "special")
        fields = dict.fromkeys(names, 0) | totals
        where = SourceLine(kernel, file, number, text)
        return Line(where, 64, 64 * 16, executions=64, **fields)

    return make


@pytest.fixture
def load(line):
    """64 requests of 32 lanes, 4 sectors each, all bytes used."""
    return AccessCounts(
        line=line(7).line,
        array="x",
        space="global",
        kind="load",
        requests=64,
        sectors=256,
        active_lanes=2048,
        bytes_requested=8192,
        array_bytes=8192,
        dtype="float32",
        wavefronts=64,
        bytes_used=8192,
    )


@pytest.fixture
def store(load):
    """64 requests of 32 lanes, 32 sectors each."""
    return replace(load, array="out", kind="store", sectors=2048, wavefronts=2048)


@pytest.fixture
def counts(line, load, store):
    lines = (
        line(10, kernel="twice", fp32=20_480),
        line(5, integer=1024),
        line(6, branches=64, divergent_branches=48),
        line(7),
    )
    return LaunchCounts((load, store), lines, 0)


@pytest.fixture
def lesson(launch, file, counts):
    """Give the maker of the table of a launch with these changes to its counts."""

    def table(width=100, launches=1, **changes):
        record = launch(grid=(8, 1, 1), counts=replace(counts, **changes))
        source = KernelSource("lesson", file, 2)
        same = [replace(record, kernel=source)] * launches
        return line_table(*same, device="Tesla T4", width=width)

    return table


def _row(table, text):
    """The words of the only line that has this text."""
    (row,) = [line for line in table.splitlines() if text in line]
    return " ".join(row.split())


def test_the_head_tells_kernel_grid_block_and_gpu(lesson):
    assert lesson().splitlines()[0] == (
        "lesson (lesson.py:2) on Tesla T4: grid (8, 1, 1) × block (256, 1, 1), 1 launch"
    )
    assert "(256, 1, 1), one of 12 equal launches\n" in lesson(launches=12)


def test_the_whole_function_is_shown_and_nothing_around_it(lesson):
    shown = '   3  def lesson(x, out):\n   4      """Copy."""\n   5      i = grid(1)'
    assert shown in lesson()
    assert "make" not in lesson()
    assert "@jit" not in lesson()


def test_device_functions_follow_the_kernel(lesson):
    kernel, function = lesson().split("\n\n")
    assert "def lesson" in kernel
    assert function.startswith("   9  def twice(value):\n")


def test_a_line_has_executions_lanes_branches_and_operations(lesson):
    table = lesson()
    assert _row(table, "if i < x.size") == "> 6 if i < x.size: 64 16.0 48/64"
    assert _row(table, "value + value") == "10 return value + value 64 16.0 20.5k"
    assert _row(table, "i = grid(1)") == "5 i = grid(1) 64 16.0 1,024"
    assert _row(table, "all lines") == "all lines 256 16.0 48/64 20.5k 1,024"


def test_columns_that_no_line_fills_are_left_out(lesson, line):
    assert _row(lesson(), "executed  ") == "source executed lanes divergent fp32 int"
    table = lesson(lines=(line(7, special=1),))
    assert _row(table, "executed  ") == "source executed lanes spec"


def test_accesses_of_one_line_are_told_apart(lesson):
    table = lesson()
    assert _row(table, "load x  ") == (
        "load x 4.0 sectors 64 32.0 256 sectors, 8.19 kB/8.19 kB"
    )
    assert _row(table, "store out  ") == (
        "> store out 32.0 sectors 64 32.0 2,048 sectors, 8.19 kB/65.5 kB"
    )


def test_equal_accesses_of_one_line_share_a_row(lesson, load, store):
    table = lesson(accesses=(load, store, load))
    assert _row(table, "load x ×2") == (
        "load x ×2 4.0 sectors 128 32.0 512 sectors, 16.4 kB/16.4 kB"
    )


def test_shared_memory_tells_passes_and_conflicts(lesson, load):
    tile = replace(
        load,
        array="tile",
        space="shared",
        sectors=0,
        wavefronts=96,
        ideal_wavefronts=64,
    )
    table = lesson(accesses=(tile,))
    assert _row(table, "load tile") == "load tile 1.5 passes 64 32.0 32 bank conflicts"
    assert (
        "64 requests, 96 passes over the banks (1.5 for each); 32 bank conflicts"
    ) in table
    table = lesson(accesses=(replace(tile, wavefronts=64),))
    assert _row(table, "load tile") == "load tile 1.0 passes 64 32.0 no bank conflicts"


def test_atomics_tell_turns_and_the_hottest_address(lesson, load):
    atomic = replace(
        load, array="hist", kind="atomic", serial_passes=640, hottest_address=900
    )
    table = lesson(accesses=(atomic,))
    assert _row(table, "atomic hist") == (
        "> atomic hist 4.0 sectors 64 32.0 640 turns, most at one: 900"
    )
    assert (
        "2,048 updates, 64 requests, 640 turns (10.0 for each); 900 at one address"
    ) in table


@pytest.mark.parametrize("space", ["local", "constant"])
def test_other_spaces_are_named(space, lesson, load):
    other = replace(load, array="a", space=space, sectors=0, wavefronts=0)
    assert _row(lesson(accesses=(other,)), "load a") == f"load a {space} 64 32.0"


def test_sums_stand_below(lesson):
    table = lesson(barriers=128)
    assert (
        "128 requests, 2,304 sectors (18.0 for each); 16.4 kB of 73.7 kB used (22.2 %)"
    ) in table
    assert "64, 48 divergent (75.0 %)" in table
    assert "128 warps arrived" in table


def test_the_last_lines_say_how_to_read_the_figures(launch):
    table = line_table(launch(), launch(kernel="neg_kernel"))
    exact, least, titles = table.split("-\n")[-1].splitlines()
    assert table.count(exact) == 1
    assert exact.startswith("Counts are exact")
    assert least.startswith("4.0 sectors of 32 bytes are the least for 32 lanes")
    assert titles.startswith("spec: divisions")


@pytest.mark.parametrize("width", [80, 90, 100])
def test_no_line_is_wider_than_asked(width, lesson):
    assert max(map(len, lesson(width).splitlines())) <= width


def test_source_is_cut_only_where_numbers_follow(launch, line):
    long = " + ".join(["x[i]"] * 12)  # 81 columns
    where = SourceLine("lesson", "<gone>", 7, f"y = {long}")
    counts = LaunchCounts((), (replace(line(7), line=where),), 0)
    table = line_table(launch(counts=counts), width=60)
    assert _row(table, "y = ") == "7 y = x[i] + x[i] + x[i] + x[i] + x[i] … 64 16.0"
    assert "access" not in table


def test_launches_with_equal_counts_are_merged(launch):
    other = replace(launch().counts, barriers=8)
    records = [launch(), launch(counts=other), launch(), launch(grid=(9, 1, 1))]
    tables = line_table(*records).split("\n\n\n")
    heads = [table.splitlines()[0] for table in tables]
    assert heads == [
        (
            "add_kernel (add.py:12): grid (4, 1, 1) × block (256, 1, 1), "
            "one of 2 equal launches"
        ),
        "add_kernel (add.py:12): grid (4, 1, 1) × block (256, 1, 1), 1 launch",
        "add_kernel (add.py:12): grid (9, 1, 1) × block (256, 1, 1), 1 launch",
    ]


def test_of_one_kernel_three_tables_are_shown(launch):
    grids = [(n, 1, 1) for n in (1, 2, 3, 4, 4, 5)]
    records = [launch(grid=grid) for grid in grids]
    tables = line_table(*records, launch(kernel="neg_kernel")).split("\n\n\n")
    assert len(tables) == 5
    assert tables[3] == (
        "add_kernel (add.py:12): 3 more launches, other counts, not shown"
    )
    assert tables[4].startswith("neg_kernel")


def test_only_the_access_at_fault_is_marked(lesson, load):
    good, poor = load, replace(load, sectors=2048)  # x[i] + x[32 * i]
    rows = [r for r in lesson(accesses=(good, poor)).splitlines() if "load x " in r]
    assert [row[0] for row in rows] == [" ", ">"]


def test_a_launch_without_counts_says_how_to_get_them(launch):
    table = line_table(launch(counts=None))
    assert "\nnot counted: settings.override(counters=True) counts\n" in table
