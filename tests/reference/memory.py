"""Arrays as one thread sees them."""

import numpy as np

from tests.reference.arithmetic import cast
from tests.reference.functions import combined


class Array:
    """Checks each index, and converts what is stored as the GPU does.

    Args:
        values: the NumPy array underneath; views of it share its memory.
    """

    def __init__(self, values):
        self.values = values
        self.shape = tuple(map(np.int64, values.shape))
        self.strides = tuple(map(np.int64, values.strides))
        self.size = np.int64(values.size)
        self.ndim = np.int64(values.ndim)
        self.itemsize = np.int64(values.itemsize)

    def __len__(self):
        return len(self.values)

    def __iter__(self):
        return (self[k] for k in range(len(self.values)))

    def _place(self, index):
        parts = index if isinstance(index, tuple) else (index,)
        lengths = self.values.shape[: len(parts)]
        return tuple(map(_checked, parts, lengths))

    def __getitem__(self, index):
        found = self.values[self._place(index)]
        return Array(found) if isinstance(found, np.ndarray) else found

    def __setitem__(self, index, value):
        place = self._place(index)
        assert len(place) == self.values.ndim
        self.values[place] = cast(value, self.values.dtype)

    def atomic(self, operation, index, value):
        """Change one element and return what it was."""
        old = self[index]
        self[index] = combined(operation, old, value)
        return old

    def compare_and_swap(self, index, expected, value):
        """Store the value where the expected one stands; return what stood there."""
        old = self[index]
        if old == cast(expected, old.dtype):
            self[index] = value
        return old


def _checked(part, length):
    """Return an index or a slice in Python's integers."""
    if isinstance(part, slice):
        bounds = part.start, part.stop, part.step
        return slice(*(None if b is None else int(b) for b in bounds))
    index = int(part)
    index += length if index < 0 else 0
    if not 0 <= index < length:
        raise IndexError(index, length)
    return index


def lengths(shape):
    """Return a shape, which may be one number, as a tuple of Python's integers."""
    return tuple(map(int, shape if isinstance(shape, tuple) else (shape,)))
