#!/usr/bin/env python3
"""Runs every command of the program on mutated files.

    tests/fuzz/commands.py PROGRAM [--count N] [--seed N] [--keep FOLDER]

A mutation changes the structure of a valid file: a value or key of JSON (configurations,
tokenizers, headers of safetensors, sessions, plans, lessons, presets), the metadata or weights of
GGUF and safetensors, arrays, training checkpoints, or single bytes. Half of the mutations are mild,
so that many files are still read: a slightly different number, a flipped flag, other weights. A run
fails the check if the program ends by a signal, runs longer than SECONDS of processor time, has
another exit status than 0, 1 or 2, does not explain a failure in one line, writes control
characters, or leaves a temporary file. Failing inputs are kept with their command in FOLDER. The
seed is random unless it is given; it is printed. The exit status is 1 if a run failed the check.
"""

import argparse
import copy
import json
import os
import random
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent
ASSETS = TESTS.parent / "assets"
SECONDS = 60
ADDRESS_SPACE = 6 << 30  # bytes

# Values that replace a value of JSON.
ODD_VALUES = [None, True, False, 0, 1, -1, 2, 7, 0.5, 1e308, -1e-308, 1 << 31, (1 << 63) - 1, 1 << 64,
              "", " ", "x", "\u0000", "\u001b[31m", "🙂", "../..", "a" * 3000, [], {}, [[]], [0], [-1],
              {"": ""}, ["a", "b"]]
ODD_NUMBERS = [0, 1, 0x7F, 0x80, 0xFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, (1 << 63) - 1, (1 << 64) - 1]


def places(value, path=()):
    """All paths of a JSON value, except the root."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in items:
        yield path + (key,)
        yield from places(child, path + (key,))


def mutate_value(value, source):
    """Replaces, removes, copies, renames or nests one element of a JSON value in place."""
    paths = list(places(value))
    if not paths:
        return source.choice(ODD_VALUES)
    path = source.choice(paths)
    parent = at_path(value, path[:-1])
    key, kind = path[-1], source.randrange(6)
    if kind == 0:
        del parent[key]
    elif kind == 1:  # a value from elsewhere in the file
        parent[key] = copy.deepcopy(at_path(value, source.choice(paths)))
    elif kind == 2 and isinstance(parent, dict):
        parent[source.choice(["", "x", key + "x", key.upper(), key[:-1]])] = parent.pop(key)
    elif kind == 3 and isinstance(parent, list):
        parent.extend(copy.deepcopy(parent[:50]))
    elif kind == 4 and isinstance(parent[key], (int, float)) and not isinstance(parent[key], bool):
        parent[key] = source.choice([-parent[key], parent[key] + 1, parent[key] * 2, parent[key] / 3])
    else:
        parent[key] = source.choice(ODD_VALUES)
    return value


def mutate_mildly(value, source):
    """Changes a number by a little, flips a flag, or exchanges a text for another one, in place."""
    leaves = [p for p in places(value) if not isinstance(at_path(value, p), (dict, list))]
    if not leaves:
        return mutate_value(value, source)
    path = source.choice(leaves)
    parent, old = at_path(value, path[:-1]), at_path(value, path)
    if isinstance(old, bool):
        new = not old
    elif isinstance(old, (int, float)):
        new = source.choice([old + 1, max(old - 1, 0), old * 2, type(old)(old / 2), type(old)(1)])
    else:
        new = at_path(value, source.choice(leaves))
    parent[path[-1]] = new
    return value


def at_path(value, path):
    for key in path:
        value = value[key]
    return value


def mutate_json(data, source):
    value = json.loads(data)
    if source.random() < 0.5:
        return json.dumps(mutate_mildly(value, source)).encode("utf-8", "surrogatepass")
    for _ in range(source.choice([1, 1, 1, 2, 4])):
        value = mutate_value(value, source)
    return json.dumps(value, ensure_ascii=source.random() < 0.5).encode("utf-8", "surrogatepass")


def mutate_bytes(data, source):
    data = bytearray(data)
    for _ in range(source.choice([1, 1, 2, 8])):
        at = source.randrange(len(data) + 1)
        kind = source.randrange(5)
        if kind == 0:
            data[at:at + 1] = bytes([source.randrange(256)])
        elif kind == 1:  # a number of the sizes that headers have
            size = source.choice([1, 2, 4, 8])
            number = source.choice(ODD_NUMBERS) & ((1 << 8 * size) - 1)
            data[at:at + size] = number.to_bytes(size, "little")
        elif kind == 2:
            del data[at:at + source.choice([1, 4, 64, len(data)])]
        elif kind == 3:
            data[at:at] = data[max(0, at - source.choice([1, 4, 64])):at]
        else:
            data[at:at] = source.choice([b"\0", b"\xff\xfe", b"\x1b[2J", b"\n", b'"', b"\xed\xa0\x80"])
    return bytes(data)


def mutate_weights(data, source):
    """Replaces some numbers; the size stays."""
    data = bytearray(data)
    for _ in range(source.choice([1, 10, 100])):
        at = source.randrange(max(1, len(data) - 4))
        data[at:at + 4] = source.choice([b"\0\0\xc0\x7f", b"\0\0\x80\xff", b"\xff\xff\x7f\x7f", b"\0\0\0\0",
                                         source.randbytes(4)])[:len(data) - at]
    return bytes(data)


def mutate_safetensors(data, source):
    if source.random() < 0.2 or len(data) < 8:
        return mutate_bytes(data, source)
    size = struct.unpack("<Q", data[:8])[0]
    if source.random() < 0.5:
        return data[:8 + size] + mutate_weights(data[8 + size:], source)
    header = mutate_json(data[8:8 + size], source)
    length = len(header) if source.random() < 0.9 else source.choice(ODD_NUMBERS)
    body = data[8 + size:]
    if source.random() < 0.2:
        body = body[:source.randrange(len(body) + 1)]
    return struct.pack("<Q", length & ((1 << 64) - 1)) + header + body


def mutate_gguf(data, source):
    """Changes bytes of the metadata, which the file begins with, more often than of the weights."""
    if source.random() < 0.5:
        return data[:len(data) // 2] + mutate_weights(data[len(data) // 2:], source)
    head = min(len(data), source.choice([32, 1 << 10, 1 << 14, len(data)]))
    return mutate_bytes(data[:head], source) + data[head:]


def mutate(path, source):
    data = path.read_bytes()
    by_extension = {".json": mutate_json, ".safetensors": mutate_safetensors, ".gguf": mutate_gguf}
    change = by_extension.get(path.suffix, mutate_bytes)
    try:
        changed = change(data, source)
    except (ValueError, RecursionError, OverflowError, KeyError, IndexError, TypeError):
        changed = mutate_bytes(data, source)  # a second mutation of a file that is JSON no longer
    path.write_bytes(changed)


class Case:
    """A command with a placeholder for the mutated file or folder, and the seeds that it reads."""

    def __init__(self, command, seeds):
        self.command, self.seeds = command, seeds


def made_seeds(program, folder):
    """Writes files that the project's folders lack: a session, an array, a datastore, a checkpoint."""
    text = folder / "text.txt"
    text.write_text("([]{<>})<[]>\n" * 20)
    session = {"attnscope": 1, "model": "brackets", "text": "([]{<>", "backend": "auto", "overlong": "first",
               "groups": [], "view": {"type": "map", "layer": 0, "head": 0}}
    (folder / "session.json").write_text(json.dumps(session))
    files = {"render": "picture.png", "datastore": "store.safetensors"}
    for command, name in files.items():
        model, given = ("twin-rope", str(text)) if command == "datastore" else ("brackets", "([]{<>")
        subprocess.run([program, command, "-m", model, "-t", given, "-o", str(folder / name)], check=True,
                       capture_output=True)
    subprocess.run([program, "train", "--preset", "brackets", *SMALL, "-o", str(folder / "training")], check=True,
                   capture_output=True)
    return folder


SMALL = ["--width", "8", "--heads", "1", "--head-size", "8", "--hidden", "8", "--layers", "1", "--context", "16",
         "--batch", "1", "--steps", "1", "-q"]


def cases(made):
    layouts = [p.parent for p in (TESTS / "layouts").glob("*/config.json")]
    bundled = [p.parent for p in (ASSETS / "models").glob("*/config.json")
               if sum(f.stat().st_size for f in p.parent.iterdir()) < 1 << 21]
    readers = [p for p in bundled if (p / "tokenizer.json").exists()]
    twins = [p for p in readers if p.name.startswith(("twin-", "positions-", "memory-"))]
    gguf = list((TESTS / "gguf").glob("*.gguf"))
    tokenizers = [p.parent for p in (TESTS / "core/text/references").glob("*/tokenizer.json")]
    tensors = [p for p in (TESTS / "conformance").glob("*.safetensors") if ".expected" not in p.name]
    samples = list((ASSETS / "samples").glob("*.txt"))
    lessons = list((ASSETS / "lessons").glob("*.json"))
    ids = ["--ids", "1,2,3,4,5,3,2,1"]
    text = ["-t", "the old house (see [1]) stood by the river"]
    found = []
    # Layouts and GGUF files of the tests have no tokenizer.
    for seeds, given in ((layouts, ids), (gguf, ids), (readers, text)):
        found += [
            Case(["run", "-m", "IN", *given, "-o", "OUT/x.safetensors"], seeds),
            Case(["render", "-m", "IN", *given, "-o", "OUT/x.svg"], seeds),
            Case(["render", "-m", "IN", *given, "--view", "VIEW", "-o", "OUT/x.svg"], seeds),
            Case(["generate", "-m", "IN", *given, "--tokens", "3"], seeds),
            Case(["generate", "-m", "IN", *given, "--tokens", "3", "--beams", "2"], seeds),
            Case(["pairs", "-m", "IN", *given], seeds)]
    found += [
        Case(["statistics", "TEXT", "-m", "IN"], twins),
        Case(["evaluate", "TEXT", "-m", "IN"], twins),
        Case(["calibrate", "TEXT", "-m", "IN"], [ASSETS / "models" / "exits-calm"]),
        Case(["datastore", "-m", "IN", "-t", "TEXT", "-o", "OUT/x.safetensors"], twins),
        Case(["datastore", "-m", "IN", *ids, "-o", "OUT/x.safetensors"], layouts),
        Case(["train", "--from", "IN", "--text", "TEXT", "--steps", "1", "--batch", "8", "--context", "16", "-q",
              "-o", "OUT/t"], twins),
        Case(["train", "--plan", "IN", *SMALL, "-o", "OUT/t"], list((ASSETS / "presets").glob("*.json"))),
        Case(["train", "--preset", "brackets", *SMALL, "-o", "IN"], [made / "training"])]
    return found + [
        Case(["run", "-m", "IN", *text, "-o", "OUT/x.safetensors"], tokenizers),
        Case(["attend", "IN", "-o", "OUT/x.safetensors"], tensors),
        Case(["render", "IN", "-o", "OUT/x.svg"],
             tensors + list((TESTS / "layouts").glob("*/reference.npz")) + [made / "picture.png"]),
        Case(["statistics", "IN"], tensors),
        Case(["lesson", "IN"], lessons),
        Case(["render", "--session", "IN", "-o", "OUT/x.svg"], [made / "session.json", made / "picture.png"]),
        Case(["render", "--session", "IN", "--view", "compare", "--compare", "IN", "-o", "OUT/x.png"],
             [made / "session.json"]),
        Case(["generate", "-m", "twin-rope", "-t", "([]{", "--tokens", "3", "--retrieval", "knn,store=IN,k=2"],
             [made / "store.safetensors"]),
        Case(["evaluate", "IN", "-m", "brackets"], samples),
        Case(["run", "--text-file", "IN", "-m", "brackets", "-o", "OUT/x.safetensors"], samples),
        Case(["render", "--input", "IN", "-m", "MODEL", "-o", "OUT/x.svg"],
             [*(ASSETS / "pictures").glob("*.png"), *(ASSETS / "samples").glob("*.safetensors"),
              *(ASSETS / "samples").glob("*.png")])]


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def problem_of(command, folder):
    """Runs the command; returns what is wrong with its end, or "" and its exit status."""
    environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    environment.update(XDG_CONFIG_HOME=str(folder), XDG_CACHE_HOME=str(folder), ATTNSCOPE_THREADS="1")
    try:
        result = subprocess.run(command, capture_output=True, timeout=10 * SECONDS, env=environment,
                                stdin=subprocess.DEVNULL, preexec_fn=limit_memory)
    except subprocess.TimeoutExpired:
        return f"ran longer than {10 * SECONDS} s", -1
    status, errors = result.returncode, result.stderr.decode("utf-8", "replace")
    lines = [line for line in errors.splitlines() if line.startswith("attnscope: ")]
    if status not in (0, 1, 2):
        return f"exit status {status}: {errors[-300:]}", status
    if status != 0 and len(lines) != 1:
        return f"{len(lines)} lines explain the failure: {errors[-300:]}", status
    if any(len(line) > 600 for line in errors.splitlines()):
        return f"a line of more than 600 characters: {errors[:100]}", status
    if any(ord(c) < 32 and c not in "\n\t" or ord(c) == 127 for c in errors):
        return f"control characters: {errors[-300:]!r}", status
    if any(".attnscope-" in name.name for name in folder.rglob("*")):
        return "a temporary file remains", status
    return "", status


def run_one(program, views, case, source, folder):
    """Mutates a seed in `folder` and runs the case; returns the command, its problem and status."""
    seed = source.choice(case.seeds)
    for name in ("samples", "pictures"):  # lessons name them
        (folder / name).symlink_to(ASSETS / name)
    target = folder / "in" / seed.name
    target.parent.mkdir()
    if seed.is_dir():
        shutil.copytree(seed, target)
        for name in ("config.json", "model.safetensors"):  # of any model, for tokenizers without one
            if not (target / name).exists():
                shutil.copy(ASSETS / "models" / "twin-rope" / name, target / name)
        files = [p for p in target.rglob("*") if p.is_file() and p.suffix in (".json", ".safetensors", ".txt", ".model")]
        weights = [4 if p.suffix == ".json" else 1 for p in files]
        for path in source.choices(files, weights, k=source.choice([1, 1, 2])):
            mutate(path, source)
    else:
        shutil.copy(seed, target)
        mutate(target, source)
    (folder / "out").mkdir()
    (folder / "text.txt").write_text("The old house stood by the river, and the cat saw it.\n" * 24)
    model = {"walk": "paths", "steering": "steering", "digit": "digits"}.get(seed.stem, "digits")
    names = {"IN": str(target), "OUT": str(folder / "out"), "TEXT": str(folder / "text.txt"), "MODEL": model,
             "VIEW": source.choice(views)}
    command = [program] + [re.sub("|".join(names), lambda name: names[name.group()], a) for a in case.command]
    return (command, *problem_of(command, folder))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--keep", type=Path, default=Path("fuzz-commands"))
    options = parser.parse_args()
    source = random.Random(options.seed)
    made = tempfile.TemporaryDirectory(prefix="attnscope-fuzz-")
    all_cases, failures, counts = cases(made_seeds(options.program, Path(made.name))), 0, {}
    listing = subprocess.run([options.program, "list", "views", "--json"], check=True, capture_output=True)
    views = [view["type"] for view in json.loads(listing.stdout)["views"]]
    print(f"seed {options.seed}", flush=True)
    for number in range(options.count):
        with tempfile.TemporaryDirectory(prefix="attnscope-fuzz-") as name:
            folder = Path(name)
            case = source.choice(all_cases)
            command, problem, status = run_one(options.program, views, case, source, folder)
            counts[status] = counts.get(status, 0) + 1
            if problem:
                failures += 1
                kept = options.keep / f"{options.seed}-{number}"
                shutil.copytree(folder, kept, dirs_exist_ok=True)
                print(f"{number}: {' '.join(command)}\n  {problem}\n  kept in {kept}", flush=True)
        if (number + 1) % 1000 == 0:
            print(f"{number + 1} runs, {failures} problems, by exit status {counts}", flush=True)
    print(f"{options.count} runs, {failures} problems, by exit status {counts}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
