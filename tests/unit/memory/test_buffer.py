"""A buffer holds exactly its bytes, and goes back to whoever handed it out."""

import numpy as np

from tinytorch_gpu.memory import DeviceBuffer
from tinytorch_gpu.memory.segments import Chunk, Segment


class Listener:
    """An owner that notes what comes back."""

    def __init__(self):
        self.heard = []

    def forget(self, buffer):
        """Note a buffer that was freed."""
        self.heard.append(("forget", buffer.nbytes))

    def release(self, buffer):
        """Note a buffer that died."""
        self.heard.append(("release", buffer.nbytes))


def made(owner, nbytes=8):
    """Return a buffer of an owner."""
    return DeviceBuffer(
        owner, Chunk(Segment(512, 512, "small_pool"), 512, 512), nbytes, 0
    )


def test_a_buffer_that_dies_is_released():
    owner = Listener()
    made(owner)
    assert owner.heard == [("release", 8)]


def test_a_buffer_that_is_freed_is_told_once():
    owner = Listener()
    made(owner).free("the test")
    assert owner.heard == [("forget", 8)]


def test_elements_are_a_view_of_the_bytes():
    buffer = made(Listener())
    buffer.elements(np.dtype("int32"))[:] = (1, 256)
    assert buffer.elements(np.dtype("uint8")).tolist() == [1, 0, 0, 0, 0, 1, 0, 0]


def test_only_whole_elements_are_seen():
    buffer = made(Listener(), nbytes=7)
    seen = buffer.elements(np.dtype("int32"))
    assert seen.shape == (1,)
    assert buffer.offset_of(buffer.elements(np.dtype("uint8"))[3:]) == 3
