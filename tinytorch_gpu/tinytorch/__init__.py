"""The embedded TinyTorch: generation B's names and meanings, for who has no TinyTorch.

It knows nothing of devices; `tinytorch_gpu.install()` adds `simgpu` to it, exactly as
to a real one. Reading order: tensor, functions, autograd, layers, losses, training.
"""

from tinytorch_gpu.tinytorch.activations import GELU, ReLU, Sigmoid, Softmax, Tanh
from tinytorch_gpu.tinytorch.autograd import enable_autograd, is_grad_enabled, no_grad
from tinytorch_gpu.tinytorch.dataloader import DataLoader, Dataset, TensorDataset
from tinytorch_gpu.tinytorch.layers import Dropout, Layer, Linear, Sequential
from tinytorch_gpu.tinytorch.losses import (
    BinaryCrossEntropyLoss,
    CrossEntropyLoss,
    MSELoss,
    log_softmax,
)
from tinytorch_gpu.tinytorch.optimizers import SGD, Adam, AdamW, Optimizer
from tinytorch_gpu.tinytorch.tensor import Function, Tensor
from tinytorch_gpu.tinytorch.training import CosineSchedule, Trainer, clip_grad_norm

__all__ = [
    "GELU", "SGD", "Adam", "AdamW", "BinaryCrossEntropyLoss", "CosineSchedule",
    "CrossEntropyLoss", "DataLoader", "Dataset", "Dropout", "Function", "Layer",
    "Linear", "MSELoss", "Optimizer", "ReLU", "Sequential", "Sigmoid", "Softmax",
    "Tanh", "Tensor", "TensorDataset", "Trainer", "clip_grad_norm", "enable_autograd",
    "is_grad_enabled", "log_softmax", "no_grad",
]  # fmt: skip
