"""Data that ships with the package: see digits-LICENSE.txt."""

__all__: list[str] = []
