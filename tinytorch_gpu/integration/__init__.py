"""TinyTorch gets the device: detection, patches, and taking them away again."""

from tinytorch_gpu.integration.install import (
    Installation,
    install,
    installed,
    uninstall,
)
from tinytorch_gpu.integration.layers import move_model

__all__ = ["Installation", "install", "installed", "move_model", "uninstall"]
