"""The Python blocks of README.md and docs/ run, each file's in one go.

A block right after the comment `<!-- no-run -->` is left out. The blocks keep their
line numbers, so a traceback points into the document.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]
SKIP = "<!-- no-run -->"
SECONDS = 120


def program(markdown: str) -> str:
    """Return the document as a program: code stays, every other line is blank."""
    lines, fence, before = [], "", ""
    for line in markdown.splitlines():
        is_fence = line.startswith("```")
        is_code = fence == "run" and not is_fence
        lines.append(line if is_code else "")
        if is_fence:
            opening = "run" if line == "```python" and before != SKIP else "other"
            fence = "" if fence else opening
        before = line.strip() or before
    return "\n".join(lines)


def run(text: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a program in its own process and folder; a warning is an error."""
    file = folder / "document.py"
    file.write_text(text, encoding="utf-8")
    return subprocess.run(
        [sys.executable, "-W", "error", file.name],
        cwd=folder,
        env={**os.environ, "MPLBACKEND": "Agg", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
        text=True,
        timeout=SECONDS,
    )


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_document_runs(path, tmp_path):
    text = program(path.read_text(encoding="utf-8"))
    if not text.strip():
        pytest.skip("no Python block to run")
    done = run(text, tmp_path)
    assert done.returncode == 0, done.stderr


def test_blocks_keep_their_lines_and_the_marked_one_is_left_out():
    document = (
        "Text\n```python\nx = 1\n```\n"
        f"{SKIP}\n```python\nx = 2\n```\n```bash\nls\n```\n```python\nx += 3\n```\n"
    )
    lines = program(document).split("\n")
    code = {i: line for i, line in enumerate(lines, 1) if line}
    assert code == {3: "x = 1", 13: "x += 3"}


def test_a_block_that_fails_is_found(tmp_path):
    done = run(program("Text\n```python\n1 / 0\n```\n"), tmp_path)
    assert done.returncode != 0
    assert "line 3" in done.stderr
    assert "ZeroDivisionError" in done.stderr
