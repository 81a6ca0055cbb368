"""The nodes of generation A's autograd; written for these tests, after the contract."""

import numpy as np


class Function:
    def __init__(self, *tensors):
        self.saved_tensors = tensors

    def apply(self, grad_output):
        raise NotImplementedError


class AddBackward(Function):
    def apply(self, grad_output):
        return grad_output, grad_output


class SubBackward(Function):
    def apply(self, grad_output):
        return grad_output, -grad_output


class MulBackward(Function):
    def apply(self, grad_output):
        a, b = self.saved_tensors
        return grad_output * b.data, grad_output * a.data


class DivBackward(Function):
    def apply(self, grad_output):
        a, b = self.saved_tensors
        return grad_output / b.data, -grad_output * a.data / b.data**2


class MatmulBackward(Function):
    def apply(self, grad_output):
        a, b = (t.data for t in self.saved_tensors)
        by_a = np.matmul(grad_output, np.swapaxes(b, -2, -1))
        return by_a, np.matmul(np.swapaxes(a, -2, -1), grad_output)


class TransposeBackward(Function):
    def __init__(self, tensor, dim0, dim1):
        super().__init__(tensor)
        self.axes = (-2, -1) if dim0 is None else (dim0, dim1)

    def apply(self, grad_output):
        return (np.swapaxes(grad_output, *self.axes),)


class ReshapeBackward(Function):
    def __init__(self, tensor, original_shape):
        super().__init__(tensor)
        self.original_shape = original_shape

    def apply(self, grad_output):
        return (grad_output.reshape(self.original_shape),)


class SliceBackward(Function):
    def __init__(self, tensor, key):
        super().__init__(tensor)
        self.key = key

    def apply(self, grad_output):
        out = np.zeros(self.saved_tensors[0].shape)
        out[self.key] = grad_output
        return (out,)


class SumBackward(Function):
    def __init__(self, tensor, axis=None, keepdims=False):
        super().__init__(tensor)
        self.axis = None if keepdims else axis

    def apply(self, grad_output):
        if self.axis is not None:
            grad_output = np.expand_dims(grad_output, self.axis)
        return (np.ones(self.saved_tensors[0].shape) * grad_output,)


class ReLUBackward(Function):
    def apply(self, grad_output):
        return (grad_output * (self.saved_tensors[0].data > 0),)


class _OutputBackward(Function):
    def __init__(self, input_tensor, output_tensor):
        super().__init__(input_tensor)
        self.output_data = output_tensor.data


class SigmoidBackward(_OutputBackward):
    def apply(self, grad_output):
        return (grad_output * self.output_data * (1 - self.output_data),)


class SoftmaxBackward(Function):
    def __init__(self, input_tensor, output_tensor, dim=-1):
        super().__init__(input_tensor)
        self.output_data, self.dim = output_tensor.data, dim

    def apply(self, grad_output):
        out = self.output_data
        total = np.sum(grad_output * out, axis=self.dim, keepdims=True)
        return (out * (grad_output - total),)


class GELUBackward(Function):
    def apply(self, grad_output):
        x = self.saved_tensors[0].data
        inner = np.tanh(0.7978846 * (x + 0.044715 * x**3))
        slope = 0.7978846 * (1 + 0.134145 * x**2)
        return (grad_output * (0.5 * (1 + inner) + 0.5 * x * (1 - inner**2) * slope),)


class _LossBackward(Function):
    def __init__(self, predictions, targets):
        super().__init__(predictions)
        self.targets_data = targets.data


class MSEBackward(_LossBackward):
    def apply(self, grad_output):
        x = self.saved_tensors[0].data
        return (grad_output * 2.0 * (x - self.targets_data) / x.size,)


class BCEBackward(_LossBackward):
    def apply(self, grad_output):
        p = np.clip(self.saved_tensors[0].data, 1e-7, 1 - 1e-7)
        return (grad_output * (p - self.targets_data) / (p * (1 - p) * p.size),)


class CrossEntropyBackward(_LossBackward):
    def apply(self, grad_output):
        x = self.saved_tensors[0].data
        e = np.exp(x - np.max(x, axis=1, keepdims=True))
        e = e / np.sum(e, axis=1, keepdims=True)
        one_hot = np.eye(x.shape[1])[self.targets_data.astype(int)]
        return (grad_output * (e - one_hot) / len(x),)


class EmbeddingBackward(Function):
    def __init__(self, weight, indices):
        super().__init__(weight)
        self.indices = indices

    def apply(self, grad_output):
        out = np.zeros_like(self.saved_tensors[0].data)
        flat = self.indices.data.astype(int).flatten()
        np.add.at(out, flat, grad_output.reshape(len(flat), -1))
        return (out,)


class Conv2dBackward(Function):
    def __init__(self, x, weight, bias, stride, padding, kernel_size, padded_shape):
        super().__init__(x, weight, *([] if bias is None else [bias]))
        self.x, self.weight, self.padded_shape = x, weight, padded_shape
        self.stride, self.padding, self.kernel_size = stride, padding, kernel_size

    def apply(self, grad_output):
        n, s, (kh, kw) = self.padding, self.stride, self.kernel_size
        data = np.pad(self.x.data, ((0, 0), (0, 0), (n, n), (n, n)))
        by_x, by_weight = np.zeros(self.padded_shape), np.zeros(self.weight.shape)
        for i in range(grad_output.shape[2]):
            for j in range(grad_output.shape[3]):
                rows, columns = slice(i * s, i * s + kh), slice(j * s, j * s + kw)
                one = grad_output[:, :, i, j][:, :, None, None, None]
                by_weight += np.sum(one * data[:, None, :, rows, columns], axis=0)
                by_x[:, :, rows, columns] += np.sum(one * self.weight.data, axis=1)
        by_x = by_x[:, :, n : by_x.shape[2] - n, n : by_x.shape[3] - n]
        return by_x, by_weight, np.sum(grad_output, axis=(0, 2, 3))
