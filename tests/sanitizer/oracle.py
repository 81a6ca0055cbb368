"""An independent judge of races and of reads of what nothing wrote: slow and plain.

It keeps every access of every thread, and what each thread knows of the others: until
which time their accesses are certain to come before its own. A barrier makes the
threads of a block know of each other, a grid barrier those of the grid, `syncwarp` the
lanes of its mask. Then it compares all pairs. Fences and flags are not understood.

Source: simt-semantics.md, section 6.
"""

import itertools
from collections import Counter, defaultdict
from typing import Any, NamedTuple

import numpy as np

from tinytorch_gpu.trace import Recorder

WARP = 32
LEVELS = ("note", "warning", "error")


class Access(NamedTuple):
    """One access by one thread.

    Args:
        time: number of the instruction.
        thread: (block, thread), both linear.
        memory: which: a buffer, or one block's shared memory.
        place: space and allocation, the same for all blocks.
        low, high: bytes of the memory, from and up to.
        kind: `load`, `store` or `atomic`.
        line: number of the line in the source.
        known: by thread, before which time its accesses come before this one.
        value: bytes that a store writes.
    """

    time: int
    thread: Any
    memory: Any
    place: Any
    low: int
    high: int
    kind: str
    line: int
    known: dict[Any, int]
    value: Any


class Race(NamedTuple):
    """Two accesses that nothing orders; `earlier` came first in this run.

    `least` is how grave they are if a store between them makes them harmless.
    """

    hazard: str
    level: str
    least: str
    earlier: Access
    later: Access


class Oracle(Recorder):
    """Hears launches; `races()` and `unwritten` judge the last one.

    `unwritten` counts lanes by (line, array's name). `names` has the names of the
    arrays at each place, with their space, `arrays` an array of each name.
    """

    wants_operations = False

    def __init__(self):
        self._fresh = {}  # bytes of global memory that nothing has written

    def allocated(self, array):
        """Take in a device array that nothing has written."""
        self._fresh[array.buffer] = set(range(array.buffer.nbytes))

    def begin(self, launch):
        """Begin a launch."""
        self.accesses = []
        self.names = defaultdict(set)
        self.arrays = {}
        self.unwritten = Counter()
        self._written = defaultdict(set)  # bytes of shared and local memory
        self._known = defaultdict(dict)  # by thread
        self._times = itertools.count()
        self._threads = range(int(np.prod(launch.block)))
        self._blocks = range(int(np.prod(launch.grid)))

    # What puts accesses in order.

    def release(self, batch, mask, kind):
        """A barrier opens; threads that have returned count as there."""
        rows = {int(row) for row in np.nonzero(mask.full())[0]}
        blocks = self._blocks if kind == "grid" else [batch.first + r for r in rows]
        for group in [blocks] if kind == "grid" else [[block] for block in blocks]:
            self._meet([(block, t) for block in group for t in self._threads])

    def converge(self, batch, site, mask, name, members):
        """Of the warp operations only `syncwarp` orders memory."""
        if name != "syncwarp":
            return
        warps = batch.shape[1] // WARP
        masks = np.broadcast_to(members, (batch.shape[0] * warps, WARP))
        groups = set()
        for row, lane in zip(*np.nonzero(mask.full()), strict=True):
            first = int(lane) // WARP * WARP
            bits = int(masks[row * warps + lane // WARP, lane % WARP])
            groups.add((batch.first + int(row), first, bits))
        for block, first, bits in groups:
            lanes = [first + k for k in range(WARP) if bits >> k & 1]
            self._meet([(block, t) for t in lanes if t in self._threads])

    def _meet(self, threads):
        now, joined = next(self._times), {}
        for known in {id(k): k for k in map(self._known.get, threads) if k}.values():
            for thread, time in known.items():
                joined[thread] = max(time, joined.get(thread, 0))
        joined |= dict.fromkeys(threads, now)
        for thread in threads:
            self._known[thread] = joined

    # Accesses.

    def access(
        self, batch, site, mask, kind, array, flat, shift=0, value=None, given=None
    ):
        """Keep each thread's access."""
        time = next(self._times)
        indices = np.broadcast_to(flat + shift, batch.shape).tolist()
        values = np.broadcast_to(value, batch.shape)
        made = []
        for row, lane in zip(*np.nonzero(mask.full()), strict=True):
            thread = batch.first + int(row), int(lane)
            place, memory = self._memory(array, thread)
            low = indices[row][lane] * array.itemsize
            stored = values[row, lane].tobytes() if kind == "store" else None
            where = time, thread, memory, place, low, low + array.itemsize
            what = kind, site.line.line, self._known[thread], stored
            made.append(Access(*where, *what))
        if made:
            self.names[made[0].place].add((array.space, site.expression))
            self.arrays[site.expression] = array
        self._look_for_fresh(made, site.expression)
        if array.space != "local":
            self.accesses += made

    def _memory(self, array, thread):
        """Return where an array lies, for all blocks and for this thread."""
        if array.space == "global":
            return ("global", array.buffer), array.buffer
        if array.space == "shared":
            place = "shared", array.address
            return place, (place, thread[0])
        place = "local", id(array.storage)
        return place, (place, thread)

    def _look_for_fresh(self, made, name):
        for access in made:
            if access.kind != "store" and self._is_fresh(access):
                self.unwritten[access.line, name] += 1
        for access in made:
            if access.kind != "load":
                self._written[access.memory].update(range(access.low, access.high))
                if access.memory in self._fresh:
                    self._fresh[access.memory] -= self._written[access.memory]

    def _is_fresh(self, access):
        touched = range(access.low, access.high)
        if access.place[0] == "global":
            fresh = self._fresh.get(access.memory, ())
            return any(byte in fresh for byte in touched)
        written = self._written[access.memory]
        return not all(byte in written for byte in touched)

    # The judgement.

    def races(self):
        """Return the races of the launch, one `Race` for each pair of accesses."""
        widths = defaultdict(lambda: 8)
        for a in self.accesses:
            widths[a.place] = min(widths[a.place], a.high - a.low)
        touching = defaultdict(list)
        for access in self.accesses:
            for byte in range(access.low, access.high, widths[access.place]):
                touching[access.memory, byte].append(access)
        found = {}
        for group in touching.values():
            if any(access.kind != "load" for access in group):
                for race in _races_at(group):
                    found[id(race.earlier), id(race.later)] = race
        return list(found.values())


def _races_at(group):
    """Yield the races of accesses that touch one element, given in order of time."""
    for number, later in enumerate(group):
        for place, earlier in enumerate(group[:number]):
            if earlier.kind == later.kind != "store":  # loads, or atomics
                continue
            if _are_ordered(earlier, later):
                continue
            hazard = _letter(later) + "A" + _letter(earlier)
            least = level = _level(earlier, later)
            if level != "note" and earlier.kind == "store":
                since = group[place + 1 : number]
                least = min(level, _hidden(earlier, later, since), key=LEVELS.index)
            yield Race(hazard, level, least, earlier, later)
            if earlier.time == later.time:  # no lane of an instruction is first
                yield Race(hazard, level, least, later, earlier)


def _are_ordered(earlier, later):
    return earlier.thread == later.thread or earlier.time < later.known.get(
        earlier.thread, 0
    )


def _hidden(earlier, later, since):
    """How grave a race is that a store in between makes harmless, or "error".

    A read finds the same value if a second store writes it again; a store after which
    another has written its own value changes nothing either.
    """
    is_read = later.kind == "load"
    again, levels = earlier if is_read else later, ["error"]
    for store in since:
        if not again.kind == store.kind == "store" or not _same_value(again, store):
            continue
        if is_read or _are_ordered(earlier, store):
            levels.append(_level(store, later))
            if _are_ordered(store, later):
                return "note"
    return min(levels, key=LEVELS.index)


def _letter(access):
    return "R" if access.kind == "load" else "W"


def _level(one, two):
    """Return how grave a race is."""
    if one.kind == two.kind == "store" and _same_value(one, two):
        return "note"
    is_one_warp = (one.thread[0], one.thread[1] // WARP) == (
        two.thread[0],
        two.thread[1] // WARP,
    )
    return "warning" if is_one_warp and one.time != two.time else "error"


def _same_value(one, two):
    """Tell whether two stores write the same to the bytes that both touch."""
    if (one.low, one.high) == (two.low, two.high):
        return one.value == two.value
    low, high = max(one.low, two.low), min(one.high, two.high)
    parts = [s.value[low - s.low : high - s.low] for s in (one, two)]
    return parts[0] == parts[1]
