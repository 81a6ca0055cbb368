"""Settings of every test: no window, and the same random examples each time."""

import os

from hypothesis import settings

os.environ.setdefault("MPLBACKEND", "Agg")

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")
