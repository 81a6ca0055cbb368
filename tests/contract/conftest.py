"""Example packages: every contract is shown to fail on one that breaks it."""

from collections.abc import Callable
from pathlib import Path

import pytest

MakePackage = Callable[[dict[str, str]], Path]


@pytest.fixture
def make_package(tmp_path: Path) -> MakePackage:
    """Return a function that writes an example package: file name to text."""

    def make(files: dict[str, str]) -> Path:
        package = tmp_path / "tinytorch_gpu"
        for name, text in files.items():
            path = package / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return package

    return make
