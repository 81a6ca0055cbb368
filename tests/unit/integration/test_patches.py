"""Patches set attributes and put the originals back."""

from tinytorch_gpu.integration.patches import Patches


class Theirs:
    kept = 1


def test_undo_restores_and_removes():
    patches = Patches()
    patches.set(Theirs, "kept", 2)
    patches.set(Theirs, "kept", 3)
    patches.set(Theirs, "added", 4)
    assert (Theirs.kept, Theirs.added) == (3, 4)
    patches.undo()
    assert Theirs.kept == 1
    assert not hasattr(Theirs, "added")


def test_an_inherited_attribute_is_not_copied_down():
    class Child(Theirs):
        pass

    patches = Patches()
    patches.set(Child, "kept", 2)
    patches.undo()
    assert "kept" not in vars(Child)
