"""TinyTorch gets the device: detection, patches, and taking them away again."""

from tinytorch_gpu.integration.install import (
    Installation,
    install,
    installed,
    uninstall,
)

__all__ = ["Installation", "install", "installed", "uninstall"]
