"""Schedules, clipping, and the Trainer from XOR to checkpoints."""

import numpy as np
import pytest

from tinytorch_gpu.tinytorch import layers
from tinytorch_gpu.tinytorch.activations import ReLU, Sigmoid, Tanh
from tinytorch_gpu.tinytorch.autograd import is_grad_enabled
from tinytorch_gpu.tinytorch.dataloader import DataLoader, TensorDataset
from tinytorch_gpu.tinytorch.layers import Dropout, Linear, Sequential
from tinytorch_gpu.tinytorch.losses import (
    BinaryCrossEntropyLoss,
    CrossEntropyLoss,
    MSELoss,
)
from tinytorch_gpu.tinytorch.optimizers import SGD, Adam
from tinytorch_gpu.tinytorch.tensor import Tensor
from tinytorch_gpu.tinytorch.training import CosineSchedule, Trainer, clip_grad_norm

XOR = Tensor([[0, 0], [0, 1], [1, 0], [1, 1]])
LABELS = Tensor([[0], [1], [1], [0]])


@pytest.fixture(autouse=True)
def reseeded(monkeypatch):
    monkeypatch.setattr(layers, "rng", np.random.default_rng(7))


def xor_loader(targets=LABELS, batch_size=4):
    return DataLoader(TensorDataset(XOR, targets), batch_size=batch_size)


def line(lr=0.1, **options):
    """A trainer of y = w x at w = 1, to be taught y = 3 x."""
    model = Linear(1, 1, bias=False)
    model.weight.data = np.ones((1, 1), np.float32)
    return model, Trainer(model, SGD(model.parameters(), lr=lr), MSELoss(), **options)


def line_loader(rows=(1.0, 2.0, 4.0), batch_size=1):
    x = np.array(rows).reshape(-1, 1)
    return DataLoader(TensorDataset(Tensor(x), Tensor(3 * x)), batch_size)


def test_xor_is_learned():
    model = Sequential(Linear(2, 8), Tanh(), Linear(8, 1), Sigmoid())
    optimizer = SGD(model.parameters(), lr=0.5, momentum=0.9)
    trainer = Trainer(model, optimizer, BinaryCrossEntropyLoss())
    assert trainer.evaluate(xor_loader())[1] < 1
    losses = [trainer.train_epoch(xor_loader()) for _ in range(300)]
    assert losses[-1] < 0.01 < losses[0]
    loss, accuracy = trainer.evaluate(xor_loader())
    assert (loss < 0.01, accuracy) == (True, 1.0)
    assert trainer.history["train_loss"] == losses
    assert (trainer.epoch, trainer.step) == (300, 300)


def test_xor_by_classes():
    model = Sequential(Linear(2, 16), ReLU(), Linear(16, 2))
    trainer = Trainer(model, Adam(model.parameters(), lr=0.05), CrossEntropyLoss())
    loader = xor_loader(Tensor([0, 1, 1, 0]), batch_size=2)
    for _ in range(100):
        trainer.train_epoch(loader)
    assert trainer.evaluate(loader)[1] == 1.0
    assert trainer.step == 200


def test_a_mean_loss_weighs_samples_not_batches():
    _, trainer = line(lr=0.0)
    for result in (
        trainer.train_epoch(line_loader(batch_size=2)),
        trainer.evaluate(line_loader(batch_size=2))[0],
    ):
        assert result == pytest.approx(4 * (1 + 4 + 16) / 3)
    assert trainer.history["eval_loss"] == pytest.approx([28.0])


def test_accumulated_batches_make_one_mean_step():
    model, trainer = line(lr=0.01)
    trainer.train_epoch(line_loader(), accumulation_steps=2)
    first = 1 + 0.01 * 2 * 2 * (1 + 4) / 2  # mean of 2 (w - 3) x² at w = 1
    second = first - 0.01 * 2 * (first - 3) * 16  # the batch that was left over
    assert float(model.weight.data[0, 0]) == pytest.approx(second, rel=1e-5)
    assert trainer.step == 2


def test_the_schedule_sets_the_optimizers_rate():
    _, trainer = line(scheduler=CosineSchedule(0.1, 0.0, 4))
    for _ in range(3):
        trainer.train_epoch(line_loader())
    expected = [0.1, 0.05 * (1 + 0.5**0.5), 0.05]
    assert trainer.history["learning_rates"] == pytest.approx(expected)
    assert trainer.optimizer.lr == pytest.approx(0.05)


def test_gradients_are_clipped_before_the_step():
    model, trainer = line(lr=0.1, grad_clip_norm=0.5)
    trainer.train_epoch(line_loader(rows=[4.0]))
    assert float(model.weight.data[0, 0]) == pytest.approx(1 + 0.1 * 0.5, rel=1e-5)


def test_the_model_is_told_whether_it_trains():
    model = Sequential(Linear(2, 1), Dropout(1.0))
    trainer = Trainer(model, SGD(model.parameters(), lr=0.0), MSELoss())
    assert trainer.train_epoch(xor_loader()) == pytest.approx(0.5)  # all outputs are 0
    assert trainer.training_mode
    assert trainer.evaluate(xor_loader())[0] != pytest.approx(0.5)
    assert not trainer.training_mode


def test_evaluating_records_nothing():
    seen = []

    class Spy(Linear):
        def forward(self, x):
            seen.append(is_grad_enabled())
            return super().forward(x)

    model = Spy(2, 1)
    trainer = Trainer(model, SGD(model.parameters()), MSELoss())
    trainer.evaluate(xor_loader())
    assert seen == [False]
    assert model.weight.grad is None


def test_parameters_are_made_to_require_gradients():
    model = Linear(1, 1)
    model.weight.requires_grad = False
    Trainer(model, SGD(model.parameters()), MSELoss())
    assert model.weight.requires_grad


def test_one_hot_targets_have_an_accuracy_too():
    model = Linear(2, 2, bias=False)
    model.weight.data = np.eye(2, dtype=np.float32)
    trainer = Trainer(model, SGD(model.parameters()), MSELoss())
    one_hot = Tensor([[1, 0], [0, 1], [0, 1], [0, 1]])
    assert trainer.evaluate(xor_loader(one_hot))[1] == 0.5


def test_a_checkpoint_continues_as_if_nothing_had_happened(tmp_path):
    def make():
        layers.rng = np.random.default_rng(7)
        model = Sequential(Linear(2, 4), Tanh(), Linear(4, 1))
        return Trainer(model, Adam(model.parameters(), lr=0.02), MSELoss())

    straight, stopped, resumed = make(), make(), make()
    for _ in range(6):
        straight.train_epoch(xor_loader())
    for _ in range(3):
        stopped.train_epoch(xor_loader())
    stopped.save_checkpoint(tmp_path / "half.pkl")
    resumed.load_checkpoint(str(tmp_path / "half.pkl"))
    for _ in range(3):
        resumed.train_epoch(xor_loader())
    assert resumed.history == straight.history
    assert (resumed.epoch, resumed.step) == (6, 6)
    pairs = zip(resumed.model.parameters(), straight.model.parameters(), strict=True)
    for one, other in pairs:
        np.testing.assert_array_equal(one.data, other.data)
        assert any(one is param for param in resumed.optimizer.params)


def test_a_checkpoint_of_another_model_is_refused(tmp_path):
    _, trainer = line()
    trainer.save_checkpoint(tmp_path / "line.pkl")
    other = Linear(2, 2)
    trainer = Trainer(other, SGD(other.parameters()), MSELoss())
    with pytest.raises(ValueError, match=r"shape mismatch.*\(2, 2\).*\(1, 1\)"):
        trainer.load_checkpoint(tmp_path / "line.pkl")


def test_cosine_schedule():
    schedule = CosineSchedule(1.0, 0.2, 10)
    assert schedule.get_lr(0) == 1.0
    assert schedule.get_lr(5) == pytest.approx(0.6)
    assert schedule.get_lr(10) == schedule.get_lr(99) == pytest.approx(0.2)
    rates = [schedule.get_lr(epoch) for epoch in range(11)]
    assert rates == sorted(rates, reverse=True)
    assert all(type(rate) is float for rate in rates)  # np.float64 would widen params


@pytest.mark.parametrize(("max_norm", "factor"), [(1.0, 1 / 13), (13.0, 1), (20.0, 1)])
def test_clipping_scales_all_gradients_by_one_factor(max_norm, factor):
    params = [Tensor([0.0, 0.0]), Tensor([0.0]), Tensor([0.0])]
    params[0].grad = np.array([3.0, 4.0], np.float32)
    params[1].grad = Tensor([12.0])
    assert clip_grad_norm(params, max_norm) == pytest.approx(13.0)
    assert params[2].grad is None
    scaled = [np.asarray(getattr(p.grad, "data", p.grad)) for p in params[:2]]
    np.testing.assert_allclose(scaled[0], np.array([3, 4]) * factor, rtol=1e-6)
    np.testing.assert_allclose(scaled[1], np.array([12]) * factor, rtol=1e-6)
    assert scaled[0].dtype == np.float32


def test_clipping_without_gradients_or_with_zeros():
    param = Tensor([1.0])
    assert clip_grad_norm([param]) == 0.0
    param.grad = np.zeros(1, np.float32)
    assert clip_grad_norm(iter([param])) == 0.0
    assert param.grad.tolist() == [0.0]
