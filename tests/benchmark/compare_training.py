#!/usr/bin/env python3
"""Compares the time per step of `attnscope train --preset shakespeare-char` with that in PyTorch.

    tests/benchmark/compare_training.py [--attnscope build/attnscope] [--rounds 5] [--steps 40]

Requires python3-torch and python3-numpy. Runs alternate, so that other load affects all of them.
PyTorch runs with one thread and with all, with OpenBLAS's default kernels and, on processors with
AVX-512, with those for SkylakeX. The time of a run is the median of its steps, that of a configuration
the minimum over its rounds. Prints each, and the ratio of PyTorch's best time to that of attnscope.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PRESET = ROOT / "assets" / "presets" / "shakespeare-char.json"
WARM_UP = 5  # steps that are not measured
MAX_SECONDS = 10  # of a run of PyTorch, which is very slow on busy processors


def torch_steps(plan, steps, threads):
    """Milliseconds of each step of the preset's model and optimiser in PyTorch."""
    import numpy
    import torch
    from torch import nn
    from torch.nn import functional

    torch.set_num_threads(threads)
    torch.manual_seed(1)
    model = plan["model"]
    width, heads, context = model["width"], model["heads"], model["context"]

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv = nn.Linear(width, 3 * width, bias=False)
            self.out = nn.Linear(width, width, bias=False)
            self.up = nn.Linear(width, model["hidden"], bias=False)
            self.down = nn.Linear(model["hidden"], width, bias=False)
            self.register_buffer("mask", torch.tril(torch.ones(context, context)) == 0)

        def attention(self, x):
            batch, length, _ = x.shape
            q, k, v = (t.view(batch, length, heads, -1).transpose(1, 2)
                       for t in self.qkv(x).split(width, dim=2))
            scores = q @ k.transpose(-2, -1) * (width // heads) ** -0.5
            weights = torch.softmax(scores.masked_fill(self.mask, float("-inf")), dim=-1)
            return self.out((weights @ v).transpose(1, 2).reshape(batch, length, width))

        def forward(self, x):
            x = x + self.attention(self.norm1(x))
            return x + self.down(functional.gelu(self.up(self.norm2(x))))

    class Decoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens = nn.Embedding(model["vocabulary"], width)
            self.positions = nn.Embedding(context, width)
            self.blocks = nn.Sequential(*[Block() for _ in range(model["layers"])])
            self.norm = nn.LayerNorm(width)

        def forward(self, ids, targets):
            x = self.tokens(ids) + self.positions(torch.arange(context))
            logits = self.norm(self.blocks(x)) @ self.tokens.weight.t()
            return functional.cross_entropy(logits.flatten(0, 1), targets.flatten())

    decoder = Decoder()
    matrices = [p for p in decoder.parameters() if p.dim() >= 2]
    vectors = [p for p in decoder.parameters() if p.dim() < 2]
    optimiser = torch.optim.AdamW(
        [{"params": matrices, "weight_decay": plan["weight_decay"]},
         {"params": vectors, "weight_decay": 0.0}],
        lr=plan["rate"], betas=(0.9, plan["beta2"]))
    text = torch.from_numpy(numpy.random.default_rng(1).integers(0, 65, 1 << 20))
    times = []
    while len(times) < steps and (len(times) <= WARM_UP or sum(times) < 1e3 * MAX_SECONDS):
        begin = time.perf_counter()
        starts = torch.randint(len(text) - context - 1, (plan["batch"],)).tolist()
        ids = torch.stack([text[s:s + context] for s in starts])
        targets = torch.stack([text[s + 1:s + 1 + context] for s in starts])
        optimiser.zero_grad(set_to_none=True)
        loss = decoder(ids, targets)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(decoder.parameters(), plan["clip"])
        optimiser.step()
        loss.item()
        times.append(1e3 * (time.perf_counter() - begin))
    return times


def attnscope_steps(program, plan, steps, folder):
    """Milliseconds of each step of attnscope, from the tokens per second in loss.csv."""
    text = folder / "text.txt"
    if not text.exists():
        import numpy
        letters = numpy.random.default_rng(1).integers(32, 97, 1 << 16).astype(numpy.uint8)
        text.write_bytes(letters.tobytes())
    with tempfile.TemporaryDirectory(dir=folder) as model:
        subprocess.run([program, "train", "--preset", "shakespeare-char", "--text", str(text),
                        "--steps", str(steps), "--warm-up", "1", "--held-out-share", "0",
                        "--evaluate-every", "0", "--save-every", "1e6", "-q", "-o", model],
                       check=True, stdout=subprocess.DEVNULL)
        lines = (pathlib.Path(model) / "loss.csv").read_text().splitlines()
    column = lines[0].split(",").index("tokens_per_second")
    tokens = plan["batch"] * plan["model"]["context"]
    return [1e3 * tokens / float(line.split(",")[column]) for line in lines[1:]]


def has_avx512():
    try:
        return "avx512f" in pathlib.Path("/proc/cpuinfo").read_text()
    except OSError:
        return False


def torch_run(steps, threads, core_type):
    """Runs torch_steps() in a separate process: OpenBLAS and its threads are fixed when it starts."""
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads), OPENBLAS_NUM_THREADS=str(threads))
    environment.pop("OPENBLAS_CORETYPE", None)
    if core_type:
        environment["OPENBLAS_CORETYPE"] = core_type
    output = subprocess.run([sys.executable, __file__, "--torch-threads", str(threads),
                             "--steps", str(steps)],
                            check=True, stdout=subprocess.PIPE, env=environment).stdout
    return json.loads(output)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--attnscope", default=str(ROOT / "build" / "attnscope"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--torch-threads", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    plan = json.loads(PRESET.read_text())
    if options.torch_threads:
        json.dump(torch_steps(plan, options.steps, options.torch_threads), sys.stdout)
        return
    if options.steps <= WARM_UP:
        parser.error(f"--steps: expected more than {WARM_UP}")
    processors = len(os.sched_getaffinity(0))
    runs = {}
    with tempfile.TemporaryDirectory() as folder:
        runs["attnscope"] = lambda: attnscope_steps(options.attnscope, plan, options.steps,
                                                    pathlib.Path(folder))
        for threads in sorted({1, processors}):
            for core_type in [None] + (["SkylakeX"] if has_avx512() else []):
                name = f"PyTorch, {threads} thread{'s' if threads > 1 else ''}"
                name += f", OPENBLAS_CORETYPE={core_type}" if core_type else ""
                runs[name] = lambda t=threads, c=core_type: torch_run(options.steps, t, c)
        times = {name: [] for name in runs}
        for completed_rounds in range(options.rounds):
            for name, run in runs.items():
                times[name].append(statistics.median(run()[WARM_UP:]))
            print(f"round {completed_rounds + 1} of {options.rounds}", file=sys.stderr)
    print(f"{'ms per step':45s}  least  rounds")
    for name, rounds in times.items():
        print(f"{name:45s} {min(rounds):6.1f}  {' '.join(f'{t:.1f}' for t in rounds)}")
    ours = min(times["attnscope"])
    best = min((min(rounds), name) for name, rounds in times.items() if name != "attnscope")
    print(f"attnscope is {best[0] / ours:.2f} times as fast as {best[1]}")


if __name__ == "__main__":
    main()
