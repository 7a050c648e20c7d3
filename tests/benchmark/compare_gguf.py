#!/usr/bin/env python3
"""Compares the speed of a GGUF language model in gguf_benchmark with that in the Hugging Face library.

    tests/benchmark/compare_gguf.py MODEL.gguf [--benchmark build/tests/benchmark/gguf_benchmark]
                                    [--rounds 5] [--threads N]

Requires torch, transformers and gguf. The library decodes the model to float32 and runs it on the CPU
without gradients, with all threads available to the process, or N:

    512 tokens, all maps     attn_implementation="eager", output_attentions=True; attnscope: text to trace
    next token after 255     past_key_values; attnscope: Generator

Runs alternate, so that other load affects both sides; a time is the minimum over all rounds. Prints
wall-clock times, the speed of attnscope relative to PyTorch, and attnscope's time to open the model
and peak resident memory. Under other load, measure with --threads 1, which also prints CPU times.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROMPT = 255
# Name, benchmark, goal: how many times as fast as PyTorch.
CASES = [("512 tokens, all maps", "Text/512/real_time", 1),
         (f"next token after {PROMPT}", f"NextToken/{PROMPT}/real_time", 3)]


def serve_torch(path, threads):
    """Reads case numbers from stdin; for each, prints the wall-clock and CPU time of a few calls in
    milliseconds."""
    import torch
    import transformers

    torch.set_num_threads(threads)
    folder, name = os.path.split(os.path.abspath(path))
    model = transformers.AutoModelForCausalLM.from_pretrained(
        folder, gguf_file=name, attn_implementation="eager", dtype=torch.float32).eval()
    generator = torch.Generator().manual_seed(1)
    ids = torch.randint(3, model.config.vocab_size, (1, 512), generator=generator)
    print("ready", flush=True)
    with torch.inference_mode():
        for line in sys.stdin:
            times = []
            for _ in range(3):
                if int(line) == 0:
                    start, cpu_start = time.perf_counter(), time.process_time()
                    out = model(ids, output_attentions=True, use_cache=False)
                    assert len(out.attentions) == model.config.num_hidden_layers
                else:
                    # The call extends the cache, so each needs a new one.
                    cache = model(ids[:, :PROMPT], use_cache=True).past_key_values
                    start, cpu_start = time.perf_counter(), time.process_time()
                    model(ids[:, PROMPT:PROMPT + 1], past_key_values=cache, use_cache=True)
                times.append((1e3 * (time.perf_counter() - start),
                              1e3 * (time.process_time() - cpu_start)))
            print(json.dumps(times), flush=True)


def measure_attnscope(program, path, name):
    """Results of one benchmark: the first repetition, with the minimum times of all, in
    milliseconds."""
    output = subprocess.run([program, path, f"--benchmark_filter=^{name}$",
                             "--benchmark_min_time=0.5", "--benchmark_repetitions=3",
                             "--benchmark_format=json"],
                            check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    runs = [run for run in json.loads(output)["benchmarks"] if run["run_type"] == "iteration"]
    if not runs or runs[0].get("error_occurred"):
        sys.exit(f"{program}: {name}: {runs[0]['error_message'] if runs else 'no such benchmark'}")
    times = {key: min(run[key] for run in runs) for key in ("real_time", "cpu_time")}
    return {**runs[0], **times}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--benchmark", default=str(ROOT / "build" / "tests" / "benchmark" /
                                                   "gguf_benchmark"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--torch", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.torch:
        serve_torch(options.model, options.threads)
        return
    if options.threads != len(os.sched_getaffinity(0)):
        # attnscope uses all processors available to the process.
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:options.threads])
    environment = dict(os.environ, OMP_NUM_THREADS=str(options.threads),
                       MKL_NUM_THREADS=str(options.threads), TQDM_DISABLE="1")
    server = subprocess.Popen([sys.executable, __file__, options.model, "--torch",
                               "--threads", str(options.threads)], env=environment, text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    if server.stdout.readline().strip() != "ready":
        sys.exit("PyTorch cannot run the model")
    opening, memory = [], None
    ours, theirs = [[] for _ in CASES], [[] for _ in CASES]
    for completed_rounds in range(options.rounds):
        opening.append(measure_attnscope(options.benchmark, options.model, "Open/real_time"))
        for n, (_, benchmark, _) in enumerate(CASES):
            run = measure_attnscope(options.benchmark, options.model, benchmark)
            memory = run if "rest_megabytes" in run else memory
            ours[n].append((run["real_time"], run["cpu_time"]))
            server.stdin.write(f"{n}\n")
            server.stdin.flush()
            theirs[n] += json.loads(server.stdout.readline())
        print(f"round {completed_rounds + 1} of {options.rounds}", file=sys.stderr)
    server.stdin.close()
    server.wait()
    opening = [(run["real_time"], run["cpu_time"]) for run in opening]
    # gguf_benchmark measures the CPU time of its main thread.
    for column, name in enumerate(("wall-clock", "CPU")[:2 if options.threads == 1 else 1]):
        print(f"{name} ms, least of {options.rounds} rounds, {options.threads} threads")
        print(f"{'':24s} {'attnscope':>10s} {'PyTorch':>10s} {'as fast':>13s}")
        for n, (case, _, goal) in enumerate(CASES):
            a, b = (min(times[column] for times in side[n]) for side in (ours, theirs))
            print(f"{case:24s} {a:10.1f} {b:10.1f} {b / a:7.2f} times  wanted: {goal}")
        print(f"{'opening':24s} {min(times[column] for times in opening):10.1f} {'':24s}  wanted: 150")
    print("peak resident memory with 512 tokens: {peak_megabytes:.0f} MB = file {file_megabytes:.0f} + "
          "maps {maps_megabytes:.0f} + other numbers of the trace {other_trace_megabytes:.0f} + "
          "{rest_megabytes:.0f}; wanted: at most 150".format(**memory))


if __name__ == "__main__":
    main()
