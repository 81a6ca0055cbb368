"""Train a small GPT on the characters of a text, on the CPU and on simgpu.

Two blocks of width 32 with 4 heads see 32 characters and tell, at each of them, which
one comes next. Only `.to(device)` differs between the two trainings.

    python examples/tiny_gpt.py            # 50 steps
    python examples/tiny_gpt.py --steps 3  # a first look

prints the losses of both, the accuracy, a few characters that the trained model writes,
and what the training costs on the modelled GPU.
"""

import argparse
import time

import numpy as np

import tinytorch_gpu
from tinytorch_gpu import profiler, tinytorch
from tinytorch_gpu.tinytorch import GPT, Adam, CrossEntropyLoss, Tensor

BATCH, CONTEXT, WIDTH, LAYERS, HEADS = 8, 32, 32, 2, 4

# Written for this example; it belongs to nobody.
TEXT = """\
a thread reads a number and a thread writes it down.
the first thread asks the second thread: what did you read?
the second thread asks the third thread: what did you read?
the third thread waits at the barrier, and the others wait with it.
when all have come, all go on, and each one reads what the others wrote.
a block is a room, and a warp is a row of chairs in the room.
the row stands up together, and the row sits down together.
if one of the row must go left and the rest must go right,
the row goes left first, and the row goes right after that.
the numbers lie side by side, and the row picks them up in one go.
the numbers lie far apart, and the row walks a long way for each.
so lay the numbers side by side, and let the row read them in one go.
"""
LETTERS = sorted(set(TEXT))


def network():
    """Return the GPT, always the same: tokens (N, length) to scores of letters."""
    for module in (tinytorch.layers, tinytorch.embeddings, tinytorch.transformers):
        module.rng = np.random.default_rng(7)
    return GPT(len(LETTERS), WIDTH, LAYERS, HEADS, max_seq_len=CONTEXT)


def batches(steps):
    """Yield tokens and the tokens that follow them, both (BATCH, CONTEXT)."""
    tokens = np.array([LETTERS.index(letter) for letter in TEXT])
    draw = np.random.default_rng(7)
    for _ in range(steps):
        starts = draw.integers(0, len(tokens) - CONTEXT, BATCH)
        rows = np.stack([tokens[s : s + CONTEXT + 1] for s in starts])
        yield Tensor(rows[:, :-1]), Tensor(rows[:, 1:])


def train(device, steps=50):
    """Train for some steps.

    Returns:
        The loss of each step, the share of characters of the last one that were told
        right, and the trained model.
    """
    model = network().to(device)
    optimizer = Adam(model.parameters(), lr=0.005)
    losses, right = [], 0.0
    for tokens, following in batches(steps):
        scores = model(tokens.to(device))
        loss = CrossEntropyLoss()(scores, following.to(device))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    told = np.argmax(scores.cpu().numpy(), axis=-1)
    right = float(np.mean(told == following.numpy()))
    return losses, right, model


def written(model, prompt="the ", count=40):
    """Return a text that the model goes on with."""
    tokens = Tensor([[LETTERS.index(letter) for letter in prompt]])
    made = model.generate(tokens, count, temperature=0.5).numpy()[0]
    return "".join(LETTERS[int(token)] for token in made)


def main():
    """Train twice and print what came out."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--gpu", default="t4", help="the GPU to model")
    parser.add_argument("--steps", type=int, default=50)
    options = parser.parse_args()
    with tinytorch_gpu.installed(options.gpu, tinytorch.__name__):
        expected, right, _ = train("cpu", options.steps)
        began = time.perf_counter()
        with profiler.profile() as prof:
            losses, right_there, model = train("simgpu", options.steps)
        wall_s = time.perf_counter() - began
        sample = written(model.to("cpu"))
    gaps = [abs(a - b) / abs(b) for a, b in zip(losses, expected, strict=True)]
    print(f"Losses       {len(losses)} steps, largest relative gap {max(gaps):.1e}")
    print(f"  cpu        {expected[0]:.6f} at first, {expected[-1]:.6f} at last")
    print(f"  simgpu     {losses[0]:.6f} at first, {losses[-1]:.6f} at last")
    print(f"Accuracy     cpu {right:.1%}, simgpu {right_there:.1%} (last step)")
    print(f"Wall time    {wall_s:.1f} s on simgpu (measured)")
    print(f"It writes    {sample!r}\n")
    print(f"{prof.key_averages().table()}\n\n{prof.verdict()}")


if __name__ == "__main__":
    main()
