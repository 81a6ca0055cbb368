"""Links between the pages lead to a file, and to a heading in it."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md"))]
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.DOTALL | re.MULTILINE)
FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\((?!\w+:)([^)#]*)(?:#([^)]*))?\)")


def anchors(page: str) -> set[str]:
    titles = re.findall(r"^#+ (.*)$", FENCE.sub("", page), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", t.lower()).replace(" ", "-") for t in titles}


def broken(page: Path) -> list[str]:
    """Return the links that lead nowhere."""
    found = []
    for target, anchor in LINK.findall(CODE.sub("", page.read_text("utf-8"))):
        file = page.parent / target if target else page
        is_there = file.exists()
        if is_there and anchor:
            is_there = anchor in anchors(file.read_text("utf-8"))
        if not is_there:
            found.append(f"{target}#{anchor}")
    return found


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(page):
    assert broken(page) == []


def test_broken_links_are_found(tmp_path):
    (tmp_path / "a.md").write_text("# One title\n", "utf-8")
    page = tmp_path / "page.md"
    page.write_text(
        "# T\n[](a.md) [](a.md#one-title) [](#t) [](https://a.b/c) ![](b.png)\n"
        "[](a.md#two) [](#u) [`f`](folder/a.md) `f[1](2)`\n```\n[](c.md)\n```\n",
        "utf-8",
    )
    assert broken(page) == ["b.png#", "a.md#two", "#u", "folder/a.md#"]
