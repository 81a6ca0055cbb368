"""Programs run in a process of their own: what is imported cannot be taken back."""

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

import tinytorch_gpu

ROOT = Path(tinytorch_gpu.__file__).parents[1]
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def write(tmp_path: Path) -> Callable[[dict[str, str]], Path]:
    """Return a function that writes files below a fresh folder."""

    def write_files(files: dict[str, str]) -> Path:
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(textwrap.dedent(text), encoding="utf-8")
        return tmp_path

    return write_files


@pytest.fixture
def python(tmp_path: Path) -> Run:
    """Return a function that runs `python words...` in the fresh folder."""

    def run(*words: str) -> "subprocess.CompletedProcess[str]":
        paths = os.pathsep.join([str(ROOT), str(tmp_path)])
        return subprocess.run(
            [sys.executable, *words],
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": paths},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run
