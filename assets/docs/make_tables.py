#!/usr/bin/env python3
"""Writes the tables and code excerpts of the documentation between their markers.

    assets/docs/make_tables.py PROGRAM [--check]

Tables come from `PROGRAM list --json`, excerpts from the source files that they name. With --check
nothing is written; pages that would change are listed, and the exit status is 1.
"""

import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))


def listed(program, what):
    out = subprocess.run([program, "list", what, "--json"], check=True, capture_output=True,
                         text=True).stdout
    return json.loads(out)[what]


def cell(text):
    return re.sub(r"\s+", " ", str(text)).replace("|", "\\|").strip()


def row(*cells):
    return "| " + " | ".join(cells) + " |"


def table(header, rows):
    return "\n".join([row(*header), row(*["---"] * len(header)), *rows])


def parameters(entry):
    """"`window` (required), `dilation` (1)"."""
    words = []
    for p in entry["parameters"]:
        if p["required"]:
            note = "required"
        elif "default" not in p:
            note = "optional"
        else:
            value = p["default"]
            note = value if isinstance(value, str) else json.dumps(value)
            if isinstance(value, float) and value == int(value):
                note = str(int(value))
        words.append(f"`{p['key']}` ({cell(note)})")
    return ", ".join(words) or "none"


def methods(program, what, prefix):
    """A table for each group, with a picture for each method."""
    lines, group, rows = [], None, []

    def close():
        if rows:
            lines.extend([f"### {group}", "", table(("picture", "method", "parameters (default)"), rows), ""])

    for entry in listed(program, what):
        if entry["group"] != group:
            close()
            group, rows = entry["group"], []
        picture = f"pictures/methods/{prefix}-{entry['type']}.png"
        image = f'[<img src="{picture}" width="240" alt="{cell(entry["label"])}">]({picture})'
        about = (f"**{cell(entry['label'])}** `{entry['type']}`<br>{cell(entry['summary'])}<br>"
                 f"Cost: {cell(entry['cost'])}. {cell(entry['source'])}")
        rows.append(row(image, about, parameters(entry)))
    close()
    return "\n".join(lines).rstrip()


def views(program):
    rows = [row(f"`{v['type']}`", cell(v["label"]), cell(v["summary"]), parameters(v))
            for v in listed(program, "views")]
    return table(("view", "label", "content", "parameters (default)"), rows)


def structure(program):
    kinds = [("architecture", "architectures"), ("join", "joins"), ("softmax", "softmaxes"),
             ("exits", "exits"), ("input", "inputs")]
    rows = [row(f"`{key}`", f"`{e['type']}`", cell(e["label"]), parameters(e), cell(e["source"]))
            for key, what in kinds for e in listed(program, what)]
    return table(("key", "type", "label", "parameters (default)", "source"), rows)


def activations(program):
    rows = [row(f"`{e['type']}`", cell(e["label"]), cell(e["equation"]),
                (f"`{e['gated']}`: " if e["gated"] else "") + cell(e["gated_label"]),
                cell(e["source"])) for e in listed(program, "activations")]
    return table(("activation", "label", "equation", "gated form", "source"), rows)


def lessons(program):
    rows = [row(f"`{e['id']}`", cell(e["title"]), cell(e["summary"])) for e in
            listed(program, "lessons")]
    return table(("lesson", "title", "content"), rows)


def pair_scores(_):
    """Recorded scores of expected pairs of words, a column for each model."""
    with open(os.path.join(TOP, "assets/samples/expected-pairs.json"), encoding="utf-8") as file:
        expected = json.load(file)
    models = list(dict.fromkeys(score["model"] for score in expected["recorded"]))
    scores = {(score["kind"], score["model"]): score for score in expected["recorded"]}
    rows = []
    for kind in expected["kinds"]:
        example, count = kind["pairs"][0], len(kind["pairs"])
        cells = [f"{kind['label']}<br>*{cell(example['text'])}* "
                 f"{example['query']} → {example['key']}"]
        for model in models:
            s = scores[kind["kind"], model]
            cells.append(f"layer {s['layer']} head {s['head']}: {s['right']} of {count // 2}, "
                         f"{s['weight']:.0%} (others {s['others']:.0%})<br>"
                         f"search: {s['found']} of {count}")
        rows.append(row(*cells))
    return table(("kind", *[f"`{model}`" for model in models]), rows)


TABLES = {
    "variants": lambda program: methods(program, "variants", "variant"),
    "encodings": lambda program: methods(program, "encodings", "position"),
    "views": views,
    "structure": structure,
    "activations": activations,
    "lessons": lessons,
    "pair_scores": pair_scores,
}


def excerpt(path, first, last):
    """Lines of a file from the first that matches `first` to the next that matches `last`."""
    with open(os.path.join(TOP, path), encoding="utf-8") as file:
        lines = file.read().split("\n")
    begin = next((i for i, line in enumerate(lines) if re.search(first, line)), None)
    if begin is None:
        raise SystemExit(f"{path}: no line matches {first}")
    end = next((i for i in range(begin, len(lines)) if re.search(last, lines[i])), None)
    if end is None:
        raise SystemExit(f"{path}: no line after {begin + 1} matches {last}")
    return "```cpp\n" + "\n".join(lines[begin:end + 1]) + "\n```"


def filled(page, program):
    def generated(match):
        return f"{match[1]}\n{TABLES[match[2]](program)}\n{match[3]}"

    def excerpted(match):
        return f"{match[1]}\n{excerpt(match[2], match[3], match[4])}\n{match[5]}"

    page = re.sub(r"(<!-- generated: (\w+) -->)\n.*?(<!-- end of generated -->)", generated, page,
                  flags=re.S)
    return re.sub(r"(<!-- excerpt: (\S+) \| (.*?) \| (.*?) -->)\n.*?(<!-- end of excerpt -->)",
                  excerpted, page, flags=re.S)


def main(arguments):
    check = "--check" in arguments
    programs = [a for a in arguments if a != "--check"]
    if len(programs) != 1:
        raise SystemExit(__doc__)
    stale = []
    for name in sorted(os.listdir(HERE)):
        if not name.endswith(".md"):
            continue
        path = os.path.join(HERE, name)
        with open(path, encoding="utf-8") as file:
            page = file.read()
        made = filled(page, programs[0])
        if made == page:
            continue
        stale.append(name)
        if not check:
            with open(path, "w", encoding="utf-8") as file:
                file.write(made)
    for name in stale:
        print(("stale: " if check else "written: ") + name)
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
