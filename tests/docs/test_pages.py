"""The blocks of README.md and docs/ run, and print what the pages show below them.

Each page runs as a notebook would, see `cells.py`. A block right after the comment
`<!-- no-run -->` is left out; `...` stands for output that a page leaves out.
docs/reference/cuda.md has its own test: each of its examples runs alone.
"""

import doctest
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs import cells

ROOT = Path(__file__).resolve().parents[2]
OWN_TEST = ROOT / "docs/reference/cuda.md"
COLUMNS = 100
SECONDS = 120
PAGES = [
    path
    for path in [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]
    if path != OWN_TEST and cells.blocks(path.read_text("utf-8"))
]
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)


def run(page: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a page in its own process and folder, as wide as a page; warnings are errors."""
    settings = {"MPLBACKEND": "Agg", "PYTHONPATH": str(ROOT), "COLUMNS": str(COLUMNS)}
    return subprocess.run(
        [sys.executable, "-W", "error", cells.__file__, str(page)],
        cwd=folder,
        env=os.environ | settings,
        capture_output=True,
        check=False,
        text=True,
        timeout=SECONDS,
    )


def differences(page: str, printed: list[str]) -> str:
    """Tell where the page shows something else than what was printed."""
    checker, told = doctest.OutputChecker(), []
    for block, output in zip(cells.blocks(page), printed, strict=True):
        if block.shown is None:
            continue
        example = doctest.Example(block.code, block.shown)
        if not checker.check_output(example.want, output, doctest.ELLIPSIS):
            text = checker.output_difference(example, output, doctest.ELLIPSIS)
            told.append(f"line {block.line}: {text}")
    return "\n".join(told)


@each_page
def test_page_runs_and_prints_what_it_shows(page, tmp_path):
    done = run(page, tmp_path)
    assert done.returncode == 0, done.stderr
    difference = differences(page.read_text("utf-8"), json.loads(done.stdout))
    assert not difference, difference


@each_page
def test_page_fits_the_columns(page):
    wide = [
        f"line {number}: {line}"
        for number, line in enumerate(page.read_text("utf-8").splitlines(), 1)
        if len(line) > COLUMNS and not line.startswith(("![", "|"))
    ]
    assert wide == []


PAGE = """
```python
# one.py
x = 1
print(x)
```
```text
1
```
<!-- no-run -->
```python
1 / 0
```
```console
$ pip install .
```
```python
x += 1
print("a", x, "b")
```

```text
a ... c
```
```console
$ simgpu run one.py
1
```
"""


def test_blocks_run_in_one_namespace_and_a_false_output_is_found(tmp_path):
    (tmp_path / "page.md").write_text(PAGE, encoding="utf-8")
    printed = json.loads(run(tmp_path / "page.md", tmp_path).stdout)
    assert printed == ["1\n", "a 2 b\n", "1\n"]
    found = differences(PAGE, printed)
    assert found.startswith("line 18: Expected:\n    a ... c\nGot:\n    a 2 b")
    assert found.count("Expected") == 1


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("1 / 0", "ZeroDivisionError"),
        ("import warnings\nwarnings.warn('old')", "UserWarning: old"),
    ],
)
def test_a_block_that_fails_is_found(code, error, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"Text\n```python\n{code}\n```\n", encoding="utf-8")
    done = run(page, tmp_path)
    assert done.returncode != 0
    assert "line_3.py" in done.stderr
    assert error in done.stderr
