"""The budgets: files of at most 300 lines, functions of 50, half of them of 8."""

from pathlib import Path

from sizes import (
    MAX_FILE_LINES,
    MAX_FUNCTION_LINES,
    MAX_MEDIAN_FUNCTION_LINES,
    PACKAGE,
    measure,
    median,
    table,
)


def excess(package: Path) -> list[str]:
    """Name each file, function and median beyond its budget."""
    sizes = measure(package)
    functions = [f for size in sizes for f in size.functions]
    half = median(functions)
    long_files = [s for s in sizes if s.lines > MAX_FILE_LINES]
    long_functions = [f for f in functions if f.lines > MAX_FUNCTION_LINES]
    too_long = half > MAX_MEDIAN_FUNCTION_LINES
    return [
        *(f"{s.path}: {s.lines} lines > {MAX_FILE_LINES}" for s in long_files),
        *(f"{f.place}: {f.lines} lines > {MAX_FUNCTION_LINES}" for f in long_functions),
        *([f"median function: {half} lines > {MAX_MEDIAN_FUNCTION_LINES}"] * too_long),
    ]


def test_package_keeps_the_budgets():
    print(table(measure(PACKAGE)))
    found = excess(PACKAGE)
    assert not found, "\n".join(found)


def test_a_long_file_is_named(make_package):
    (found,) = excess(make_package({"units.py": "x = 1\n" * (MAX_FILE_LINES + 1)}))
    assert "units.py: 301 lines" in found


def test_a_long_function_is_named_and_moves_the_median(make_package):
    text = "def f():\n" + "    x = 1\n" * MAX_FUNCTION_LINES
    long, half = excess(make_package({"units.py": text}))
    assert "units.py:1 f: 51 lines" in long
    assert half.startswith("median")


def test_the_table_counts_comments_and_docstrings_once(make_package):
    text = '"""One\ntwo."""\n\nx = 1  # three\ny = 2\n'
    (size,) = measure(make_package({"units.py": text}))
    assert (size.lines, size.explaining_lines) == (5, 3)
    assert "60%" in table([size])
