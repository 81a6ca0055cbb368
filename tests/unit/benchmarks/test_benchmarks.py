"""The benchmarks run at tiny sizes, check their answers, and print whole tables."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[3] / "benchmarks"
WAYS = ["counted", "replayed", "off"]


def load(name):
    spec = importlib.util.spec_from_file_location(f"benchmarks_{name}", FOLDER / name)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_one_command_prints_both_tables_and_writes_every_row(tmp_path):
    written = tmp_path / "rows.json"
    command = [sys.executable, FOLDER / "run.py", "--tiny", "--json", written]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = json.loads(written.read_text())
    ways = [row["way"] for row in rows["launches"]]
    assert ways == WAYS * 7
    assert all(0 < row["fastest_s"] < 60 for row in rows["launches"])
    names = [row["name"] for row in rows["figures"]]
    assert [name.split(",")[0] for name in names] == [
        "matmul naive 32³",
        "vector add 256",
        "launch of 32 threads",
        "vector add of 2^10 threads",
        "vector add of 2^12 threads",
        "peak of 2^12 threads",
        "peak of 2^12 threads",
    ]
    printed = done.stdout.splitlines()
    assert printed[0] == "| case, ms a launch | counted | replayed | off |"
    assert sum(line.startswith("|") for line in printed) == (2 + 7) + (2 + 7)


@pytest.fixture
def run():
    return load("run.py")


def row(case, way, seconds):
    return {"case": case, "way": way, "fastest_s": seconds}


def test_ratios_and_their_geometric_mean(run):
    rows = [
        row("a", "off", 0.5),
        row("a", "simulator", 100.0),
        row("b", "off", 0.001),
        row("b", "simulator", 50.0),
    ]
    assert run.launch_table(rows) == [
        "| case, ms a launch | off | simulator |",
        "|---|---|---|",
        "| a | 500 (200×) | 100,000 |",
        "| b | 1 (50,000×) | 50,000 |",
        "| geometric mean of the ratios | 3,162× | 1× |",  # √(200 × 50,000)
    ]


def test_a_wrong_answer_stops_the_timing():
    timing = load("timing.py")

    def wrong():
        raise AssertionError("wrong")

    with pytest.raises(AssertionError, match="wrong"):
        timing.time_launch(lambda: None, wrong, 0)


def test_the_fastest_of_all_calls_is_told(monkeypatch):
    timing = load("timing.py")
    clock = iter([0, 3, 3, 4, 4, 6, 6, 11])
    monkeypatch.setattr(timing.time, "perf_counter", lambda: next(clock))
    assert timing.fastest_seconds(lambda: None, 11) == 1  # of 3, 1, 2 and 5
