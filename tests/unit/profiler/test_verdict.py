"""What dominates, decided by numbers."""

from __future__ import annotations

import json

import pytest

from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.profiler.verdict import judge
from tinytorch_gpu.trace import SynchronizeRecord

T4 = find_gpu("t4")
WAIT = SynchronizeRecord("device", "synchronize", "", 0.0, 6000.0, 5000.0)


def _judge(records):
    return judge(records, spec=T4)


def test_parts_add_up_to_the_elapsed_time(step):
    verdict = _judge([*step, WAIT])
    assert verdict.transfer_ns == 17_000
    assert verdict.launch_ns == 4 * 2000
    assert verdict.kernel_ns == 4 * 3000
    assert verdict.synchronize_ns == 5000
    assert verdict.elapsed_ns == 42_000


def test_parts_are_those_that_decide(step, launch):
    """Of a launch at the host's pace all is overhead, though the bill has a kernel."""
    verdict = _judge([*step, WAIT])
    assert sum(verdict.parts.values()) == verdict.elapsed_ns
    assert max(verdict.parts, key=verdict.parts.get) == verdict.dominant
    paced = _judge([launch()] * 10)
    assert paced.parts["launch overhead"] == paced.elapsed_ns == 50_000
    assert paced.parts["kernels"] == 0 < paced.kernel_ns
    assert f"{paced.parts['launch overhead'] / 1000:.1f} µs" in paced.sentences[0]


def test_transfers_dominate(copy, launch):
    assert _judge([copy(), copy(), launch()]).dominant == "transfers"


def test_kernels_dominate(copy, launch):
    long = launch(duration_ns=50_000.0, elapsed_ns=50_000.0, bound="memory")
    assert _judge([long, copy()]).dominant == "kernels"


def test_short_kernels_at_the_hosts_pace_are_launch_overhead(launch):
    """A kernel of 3 µs under a launch of 5 µs: a faster one would save nothing."""
    verdict = _judge([launch()] * 10)
    assert verdict.kernel_ns > verdict.launch_ns
    assert verdict.dominant == "launch overhead"


def test_short_kernels_behind_a_long_queue_are_kernels(launch):
    queued = launch(duration_ns=3000.0, elapsed_ns=3000.0)
    assert _judge([queued] * 10).dominant == "kernels"


def test_synchronization_dominates(launch):
    hidden = launch(elapsed_ns=0.0)
    verdict = _judge([hidden, WAIT])
    assert verdict.dominant == "synchronization"


def test_nothing_happened(op):
    assert _judge([]).dominant == "nothing"
    assert _judge([op("tinytorch::add")]).dominant == "nothing"


@pytest.mark.parametrize("times", [0, 1, 3])
def test_text_is_two_sentences_that_name_the_gpu(step, times):
    verdict = _judge(step * times)
    first, second = verdict.sentences
    text, _, findings = str(verdict).partition("\n\n")
    assert " ".join(text.splitlines()) == f"{first} {second}"
    assert bool(findings) is bool(times)
    assert max(map(len, str(verdict).splitlines())) <= 100
    assert first.endswith(".")
    assert second.endswith(".")
    assert "Tesla T4" in first


def test_at_most_three_findings_are_shown(step):
    verdict = _judge(step * 3)
    assert len(verdict.findings) > 3
    shown = [line[:2] for line in str(verdict).splitlines() if line[:1].isdigit()]
    assert shown == ["1.", "2.", "3."]
    assert max(map(len, str(verdict).splitlines())) <= 100


def test_findings_save_at_most_the_whole(step):
    verdict = _judge(step * 3)
    saved = [f.saves_ns for f in verdict.findings if f.kind != "do not move this"]
    assert 0 < sum(saved) <= verdict.elapsed_ns
    assert max(f.saves_ns for f in verdict.findings) < verdict.elapsed_ns


def test_shown_in_notebooks_and_as_a_dict(step):
    verdict = _judge(step)
    assert verdict._repr_html_().startswith("<p><b>")
    plain = json.loads(json.dumps(verdict.to_dict()))
    assert plain["dominant"] == verdict.dominant
    assert plain["findings"][0]["kind"] == verdict.findings[0].kind
