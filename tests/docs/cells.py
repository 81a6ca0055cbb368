"""Run the blocks of a page as a notebook's cells, and tell what each printed.

    python -W error tests/docs/cells.py PAGE

prints the outputs as JSON. Each ```python block is a cell: a file of its own with lines
from 1, all in one namespace, so that line numbers that the page shows count in the
block. `# name.py` in its first line names the file. A ```console block that shows an
output of `$ simgpu ...` is run after the cells above it.
"""

from __future__ import annotations

import contextlib
import io
import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Block", "blocks", "outputs"]

BLOCK = re.compile(
    r"^(?P<skip><!-- no-run -->\n)?```(?P<kind>python|console)\n(?P<code>.*?)^```\n"
    r"(?:\n*```text\n(?P<shown>.*?)^```\n)?",
    re.MULTILINE | re.DOTALL,
)
COMMAND = re.compile(r"\$ simgpu (.*)\n((?:(?!\$ ).*\n)+)")


@dataclass(frozen=True)
class Block:
    """A cell or a command of a page.

    Args:
        kind: "python" or "console".
        code: the cell's text, or the command's words after `simgpu`.
        shown: the output on the page, None if it shows none.
        line: where the block begins in the page.
    """

    kind: str
    code: str
    shown: str | None
    line: int

    @property
    def file(self) -> str:
        """The cell's file."""
        named = re.match(r"# (\w+\.py)\b", self.code)
        return named[1] if named else f"line_{self.line}.py"


def blocks(page: str) -> list[Block]:
    """Return what is to be run of a page, in order."""
    found = []
    for match in BLOCK.finditer(page):
        line = page.count("\n", 0, match.start("code")) + 1
        if match["skip"]:
            continue
        if match["kind"] == "python":
            found.append(Block("python", match["code"], match["shown"], line))
        elif command := COMMAND.fullmatch(match["code"]):
            found.append(Block("console", command[1], command[2], line))
    return found


def outputs(page: str) -> list[str]:
    """Run a page in the current folder; return what each of its blocks prints."""
    names: dict[str, object] = {"__name__": "__main__"}
    return [
        _cell(block, names) if block.kind == "python" else _command(block)
        for block in blocks(page)
    ]


def _cell(block: Block, names: dict[str, object]) -> str:
    Path(block.file).write_text(block.code, encoding="utf-8")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(block.code, block.file, "exec"), names)
    return printed.getvalue()


def _command(block: Block) -> str:
    words = [sys.executable, "-m", "tinytorch_gpu.cli", *block.code.split()]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


if __name__ == "__main__":
    text = Path(sys.argv[1]).read_text(encoding="utf-8")
    print(json.dumps(outputs(text)))
