#!/usr/bin/env python3
"""Compares the time of attention in attention_benchmark with that in PyTorch.

    tests/benchmark/compare_attention.py [--benchmark build/tests/benchmark/attention_benchmark]
                                         [--rounds 5] [--threads N]

Requires PyTorch 2 (`pip install torch`). Eight heads of size 64, float32, without gradients, with all
threads available to the process, or N:

    dense with probabilities    softmax(q k^T / 8) and its product with v; both results are kept
    streamed                    scaled_dot_product_attention, which does not return probabilities
    a band of +-64              scaled_dot_product_attention with a dense L x L mask

Runs alternate, so that other load affects all of them; a time is the minimum over all rounds. Prints
wall-clock and CPU times, and the speed of attnscope relative to PyTorch. Under other load, compare
CPU times with one thread (--threads 1): PyTorch's threads use CPU time while they wait.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADS, SIZE = 8, 64
SECONDS = 0.5  # minimum time of a round of PyTorch

# Name, filter of the benchmark, length, goal.
CASES = [
    ("dense with probabilities", "DenseWithProbabilities/{}/real_time", 1024, 3),
    ("dense with probabilities", "DenseWithProbabilities/{}/real_time", 2048, 3),
    ("streamed", "DenseStreamed/{}/real_time", 1024, 1.2),
    ("streamed", "DenseStreamed/{}/real_time", 2048, 1.2),
    ("streamed", "DenseStreamed/{}/real_time", 4096, 1.2),
    ("a band of +-64", "Band/{}/real_time", 4096, 50),
]


def torch_run(name, length, threads):
    """Wall-clock and CPU time of each call in milliseconds."""
    import torch
    from torch.nn import functional

    torch.set_num_threads(threads)
    torch.manual_seed(1)
    q, k, v = (torch.randn(1, HEADS, length, SIZE) for _ in range(3))
    mask = None
    if name.startswith("a band"):
        positions = torch.arange(length)
        mask = (positions[:, None] - positions[None, :]).abs() <= 64

    def call():
        if name.startswith("dense"):
            weights = torch.softmax(q @ k.transpose(-2, -1) * SIZE ** -0.5, dim=-1)
            return weights, weights @ v
        return functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)

    times = []
    with torch.inference_mode():
        call()
        while len(times) < 3 or sum(wall for wall, _ in times) < 1e3 * SECONDS:
            wall_start, cpu_start = time.perf_counter(), time.process_time()
            call()
            times.append((1e3 * (time.perf_counter() - wall_start),
                          1e3 * (time.process_time() - cpu_start)))
    return times


def minimum(times):
    return tuple(min(column) for column in zip(*times))


def measure_torch(name, length, threads):
    """Runs torch_run() in a separate process: the number of threads is fixed when it starts."""
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads), MKL_NUM_THREADS=str(threads))
    output = subprocess.run([sys.executable, __file__, "--torch", name, "--length", str(length),
                             "--threads", str(threads)],
                            check=True, stdout=subprocess.PIPE, env=environment).stdout
    return minimum(json.loads(output))


def measure_attnscope(program, name):
    """Minimum wall-clock and CPU time of several repetitions in milliseconds."""
    output = subprocess.run([program, f"--benchmark_filter=^{name}$", "--benchmark_min_time=0.1",
                             "--benchmark_repetitions=3", "--benchmark_format=json"],
                            check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    runs = [run for run in json.loads(output)["benchmarks"] if run["run_type"] == "iteration"]
    if not runs:
        sys.exit(f"{program} has no benchmark {name}")
    unit = {"ns": 1e-6, "us": 1e-3, "ms": 1}
    times = [(run["real_time"] * unit[run["time_unit"]], run) for run in runs]
    return minimum((ms, ms * run["pair_cpu_ns"] / run["pair_ns"]) for ms, run in times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--benchmark", default=str(ROOT / "build" / "tests" / "benchmark" /
                                                   "attention_benchmark"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--torch", help=argparse.SUPPRESS)
    parser.add_argument("--length", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.torch:
        json.dump(torch_run(options.torch, options.length, options.threads), sys.stdout)
        return
    import torch

    if options.threads != len(os.sched_getaffinity(0)):
        # attnscope uses all processors available to the process.
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:options.threads])
    attnscope_times = [[] for _ in CASES]
    torch_times = [[] for _ in CASES]
    for completed_rounds in range(options.rounds):
        for n, (name, benchmark, length, _) in enumerate(CASES):
            attnscope_times[n].append(
                measure_attnscope(options.benchmark, benchmark.format(length)))
            torch_times[n].append(measure_torch(name, length, options.threads))
        print(f"round {completed_rounds + 1} of {options.rounds}", file=sys.stderr)
    print(f"ms, least of {options.rounds} rounds, {options.threads} threads; "
          f"PyTorch {torch.__version__}")
    print(f"{'':26s} {'tokens':>6s}  {'by the clock':^36s}  {'processor time':^36s}")
    print(f"{'':33s}" + 2 * f"  {'attnscope':>10s} {'PyTorch':>10s} {'as fast':>13s}")
    for n, (name, _, length, goal) in enumerate(CASES):
        columns = "".join(f"  {a:10.2f} {b:10.2f} {b / a:7.2f} times"
                          for a, b in zip(minimum(attnscope_times[n]), minimum(torch_times[n])))
        print(f"{name:26s} {length:6d}{columns}  wanted: {goal}")


if __name__ == "__main__":
    main()
