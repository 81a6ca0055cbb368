"""A GPT on simgpu as on the CPU: training, masks, positions, and new text."""

import copy

import numpy as np
import pytest

from tests.conformance.package import host, same
from tinytorch_gpu import profiler
from tinytorch_gpu import tinytorch as embedded
from tinytorch_gpu.integration import move_model

RNG = np.random.default_rng(23)
TOKENS = RNG.integers(0, 11, (4, 6)).astype(np.float32)
NEXT = RNG.integers(0, 11, (4, 6)).astype(np.float32)
WORDS = RNG.normal(size=(2, 5, 8)).astype(np.float32)


def gpt_of(package, name="GPT"):
    """Make a small GPT whose parameters require gradients."""
    package.seed()
    model = package.get(name)(11, 8, 2, 2, max_seq_len=16)
    for parameter in model.parameters():
        parameter.requires_grad, parameter.grad = True, None
    return model


def on_both(package, program):
    """Run a program for both devices; skip it where the package itself cannot."""
    try:
        expected = program("cpu")
    except (AttributeError, IndexError, TypeError, ValueError) as error:
        if package.name == embedded.__name__:
            raise
        pytest.skip(f"the package itself raises on the CPU: {error!r:.200}")
    return program("simgpu"), expected


@pytest.mark.parametrize("name", ["GPT", "TinyGPT"])
def test_training_step_by_step(package, name):
    model, loss_fn = gpt_of(package, name), package.get("CrossEntropyLoss")()

    def losses(device):
        one = move_model(copy.deepcopy(model), device)
        optimizer = package.get("AdamW")(one.parameters(), lr=0.01)
        told = []
        for _ in range(4):
            logits = one.forward(package.plain(TOKENS, device)).reshape(-1, 11)
            loss = loss_fn(logits, package.plain(NEXT.reshape(-1), device))
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            told.append(float(loss.data))
        return told

    got, expected = on_both(package, losses)
    same(got, expected)
    assert got[-1] < got[0]


def test_training_by_the_trainer(package):
    model = gpt_of(package)

    def losses(device):
        one = move_model(copy.deepcopy(model), device)
        optimizer = package.get("Adam")(one.parameters(), lr=0.01)
        loss = package.get("CrossEntropyLoss")()
        trainer = package.get("Trainer")(one, optimizer, loss, grad_clip_norm=1.0)
        batches = [(package.plain(TOKENS, device), package.plain(NEXT, device))]
        told = [float(trainer.train_epoch(batches)) for _ in range(3)]
        return [*told, *map(float, trainer.evaluate(batches))]

    same(*on_both(package, losses))


@pytest.mark.parametrize("temperature", [0.7, 1e-3])
def test_new_text_is_that_of_the_cpu(package, temperature):
    model = gpt_of(package)
    package.needs(model, "generate")
    told = {}
    for device in ("cpu", "simgpu"):
        one = move_model(copy.deepcopy(model), device)
        package.seed(3)
        prompt = package.plain(TOKENS[:1, :3], device)
        with np.errstate(over="ignore", invalid="ignore"):
            text = one.generate(prompt, max_new_tokens=6, temperature=temperature)
        told[device] = host(text).tolist()
    assert told["simgpu"] == told["cpu"]
    assert np.shape(told["cpu"]) == (1, 9)


def test_the_copies_of_a_new_token_are_told(package):
    model = move_model(gpt_of(package), "simgpu")
    package.needs(model, "generate")
    prompt = package.plain(TOKENS[:1, :3], "simgpu")
    with profiler.profile() as prof:
        model.generate(prompt, max_new_tokens=2)
    copies = [r.direction for r in prof.events() if hasattr(r, "direction")]
    assert copies.count("d2h") >= 2  # the scores of each new token


def test_text_of_a_model_that_is_not_the_packages(package):
    generate, inner = package.get("generate"), gpt_of(package)

    class Model:
        def forward(self, tokens):
            return inner.forward(tokens)

    told = {}
    for device in ("cpu", "simgpu"):
        move_model(inner, device)
        prompt, rng = package.plain(TOKENS[:1, :3], device), np.random.default_rng(5)
        text = generate(Model(), prompt, max_new_tokens=5, temperature=0.8, rng=rng)
        assert text.device == {"simgpu": "simgpu:0"}.get(device, "cpu")
        told[device] = host(text).tolist()
    assert told["simgpu"] == told["cpu"]


@pytest.mark.parametrize("axes", [2, 3])
def test_attention_with_a_mask(package, axes):
    layer = package.get("MultiHeadAttention")(8, 2)
    mask = np.tril(np.ones((5, 5))) if axes == 2 else np.tril(np.ones((2, 5, 5)))

    def program(device):
        one = move_model(copy.deepcopy(layer), device)
        x = package.leaf(WORDS, device)
        out = one.forward(x, package.plain(mask, device))
        (out * out).sum().backward()
        return [host(out), None if x.grad is None else host(x.grad)]

    got, expected = on_both(package, program)
    for mine, theirs in zip(got, expected, strict=True):
        assert (mine is None) == (theirs is None)
        if theirs is not None:
            same(mine, theirs)


@pytest.mark.parametrize("kind", ["learned", "sinusoidal", None])
def test_positions_after_a_start(package, kind):
    package.seed()
    layer = package.get("EmbeddingLayer")(11, 8, 16, pos_encoding=kind)

    def program(device):
        one = move_model(copy.deepcopy(layer), device)
        return host(one.forward(package.plain(TOKENS, device), start_pos=3))

    same(*on_both(package, program))


@pytest.mark.parametrize("kind", ["learned", "sinusoidal"])
def test_one_text_without_a_batch(package, kind):
    package.seed()
    options = {"pos_encoding": kind, "scale_embeddings": True}

    def program(device):
        layer = package.get("EmbeddingLayer")(11, 8, 16, **options)
        for parameter in layer.parameters():
            parameter.data[...] = np.linspace(-1, 1, parameter.size).reshape(
                parameter.shape
            )
        one = move_model(layer, device)
        return host(one.forward(package.plain(TOKENS[0], device)))

    same(*on_both(package, program))
