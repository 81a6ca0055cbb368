"""What the trace-event format asks of a file, as a list of faults.

Source: "Trace Event Format" (Google, public document): duration, complete, flow and
metadata events; nesting of the slices of a thread; ids of flows.
"""

from __future__ import annotations

from collections import defaultdict

REQUIRED = {
    "X": {"name", "cat", "ph", "ts", "dur", "pid", "tid", "args"},
    "M": {"name", "ph", "pid", "tid", "args"},
    "s": {"name", "cat", "ph", "ts", "pid", "tid", "id"},
    "f": {"name", "cat", "ph", "ts", "pid", "tid", "id", "bp"},
}
METADATA = {
    "process_name": "name",
    "thread_name": "name",
    "process_sort_index": "sort_index",
    "thread_sort_index": "sort_index",
}


def faults_of(trace):
    """Return what is wrong with a trace; an empty list is what one wants."""
    if trace.get("displayTimeUnit") not in ("ms", "ns"):
        return ["displayTimeUnit is ms or ns"]
    events = trace["traceEvents"]
    return [
        *(fault for event in events for fault in _fields(event)),
        *_order(events),
        *_rows(events),
        *_flows(events),
        *_named(events),
    ]


def of_phase(trace, phase, pid=None):
    """Return the events of one phase, of one process or of all."""
    events = [e for e in trace["traceEvents"] if e["ph"] == phase]
    return [e for e in events if pid is None or e["pid"] == pid]


def _fields(event):
    wanted = REQUIRED.get(event.get("ph"))
    if wanted is None:
        yield f"phase {event.get('ph')!r}"
        return
    if not wanted <= set(event):
        yield f"{event} lacks {wanted - set(event)}"
    if event["ph"] == "M" and METADATA.get(event["name"]) not in event["args"]:
        yield f"metadata {event}"
    for key in ("pid", "tid"):
        if not isinstance(event[key], int):
            yield f"{key} of {event} is no integer"
    for key in ("ts", "dur"):
        if not isinstance(event.get(key, 0), (int, float)) or event.get(key, 0) < 0:
            yield f"{key} of {event}"


def _order(events):
    """Of events at one time, those that hold others come first."""
    times = [e["ts"] for e in events if e["ph"] != "M"]
    return [] if times == sorted(times) else ["events are not in order of time"]


def _ns(us):
    """Whole nanoseconds: exact, where sums of fractions of microseconds are not."""
    return round(1000 * us)


def _rows(events):
    """Slices of one row nest: each ends before the one around it does."""
    rows = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            rows[event["pid"], event["tid"]].append(event)
    for (pid, _), slices in rows.items():
        open_ends = []
        for event in slices:
            start = _ns(event["ts"])
            end = start + _ns(event["dur"])
            while open_ends and open_ends[-1] <= start:
                open_ends.pop()
            if open_ends and end > open_ends[-1]:
                yield f"{event} ends after what is around it"
            if open_ends and pid:  # the device: nothing overlaps
                yield f"{event} overlaps with another"
            open_ends.append(end)


def _flows(events):
    """Each flow has one start and one end, in slices, and does not go back in time."""
    starts = {e["id"]: e for e in events if e["ph"] == "s"}
    ends = {e["id"]: e for e in events if e["ph"] == "f"}
    if sum(e["ph"] in "sf" for e in events) != len(starts) + len(ends):
        yield "an id is used twice"
    if set(starts) != set(ends):
        yield f"flows without both ends: {set(starts) ^ set(ends)}"
    slices = {(e["pid"], e["tid"], e["ts"], e["dur"]) for e in events if e["ph"] == "X"}
    begins = {(pid, tid, ts) for pid, tid, ts, _ in slices}
    for event in (*starts.values(), *ends.values()):
        if (event["pid"], event["tid"], event["ts"]) not in begins:
            yield f"{event} is at no slice's start"
    for number in set(starts) & set(ends):
        start, end = starts[number], ends[number]
        if (start["name"], start["cat"]) != (end["name"], end["cat"]):
            yield f"flow {number} changes its name"
        if start["ts"] > end["ts"]:
            yield f"flow {number} goes back in time"


def _named(events):
    """Every process and row that has slices has a name."""
    processes = {e["pid"] for e in events if e["name"] == "process_name"}
    threads = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name"}
    for event in events:
        if event["ph"] != "M":
            if event["pid"] not in processes:
                yield f"process {event['pid']} has no name"
            if (event["pid"], event["tid"]) not in threads:
                yield f"row {event['pid'], event['tid']} has no name"
