"""tinytorch-gpu: a simulated GPU device for TinyTorch."""

__version__ = "0.1.0"
