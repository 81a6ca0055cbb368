"""The embedded TinyTorch: generation B's names and meanings, for who has no TinyTorch.

It knows nothing of devices; `tinytorch_gpu.install()` adds `simgpu` to it, exactly as
to a real one. Reading order: tensor, functions, autograd, layers, losses, training;
then the larger layers: spatial, embeddings, attention, transformers.
"""

from tinytorch_gpu.tinytorch.activations import GELU, ReLU, Sigmoid, Softmax, Tanh
from tinytorch_gpu.tinytorch.attention import (
    MultiHeadAttention,
    scaled_dot_product_attention,
)
from tinytorch_gpu.tinytorch.autograd import enable_autograd, is_grad_enabled, no_grad
from tinytorch_gpu.tinytorch.dataloader import DataLoader, Dataset, TensorDataset
from tinytorch_gpu.tinytorch.embeddings import (
    Embedding,
    EmbeddingLayer,
    PositionalEncoding,
    create_sinusoidal_embeddings,
)
from tinytorch_gpu.tinytorch.layers import Dropout, Layer, Linear, Sequential
from tinytorch_gpu.tinytorch.losses import (
    BinaryCrossEntropyLoss,
    CrossEntropyLoss,
    MSELoss,
    log_softmax,
)
from tinytorch_gpu.tinytorch.optimizers import SGD, Adam, AdamW, Optimizer
from tinytorch_gpu.tinytorch.spatial import (
    AvgPool2d,
    BatchNorm2d,
    Conv2d,
    Flatten,
    MaxPool2d,
)
from tinytorch_gpu.tinytorch.tensor import Function, Tensor
from tinytorch_gpu.tinytorch.training import CosineSchedule, Trainer, clip_grad_norm
from tinytorch_gpu.tinytorch.transformers import (
    GPT,
    MLP,
    LayerNorm,
    TransformerBlock,
    create_causal_mask,
)

__all__ = [
    "GELU", "GPT", "MLP", "SGD", "Adam", "AdamW", "AvgPool2d", "BatchNorm2d",
    "BinaryCrossEntropyLoss", "Conv2d", "CosineSchedule", "CrossEntropyLoss",
    "DataLoader", "Dataset", "Dropout", "Embedding", "EmbeddingLayer", "Flatten",
    "Function", "Layer", "LayerNorm", "Linear", "MSELoss", "MaxPool2d",
    "MultiHeadAttention", "Optimizer", "PositionalEncoding", "ReLU", "Sequential",
    "Sigmoid", "Softmax", "Tanh", "Tensor", "TensorDataset", "Trainer",
    "TransformerBlock", "clip_grad_norm", "create_causal_mask",
    "create_sinusoidal_embeddings", "enable_autograd", "is_grad_enabled",
    "log_softmax", "no_grad", "scaled_dot_product_attention",
]  # fmt: skip
