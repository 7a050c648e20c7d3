#!/usr/bin/env python3
"""Writes the table of experiments.md from results of experiments.

    assets/docs/make_experiments.py PROGRAM --quick FOLDER [--full FOLDER]

The folders are those of `PROGRAM experiment --all --quick -o FOLDER` and without --quick. An experiment with results
in both shows the full ones.
"""

import argparse
import json
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
BEGIN, END = "<!-- begin results -->\n", "<!-- end results -->\n"


def conclusion(folder, name):
    file = folder / name / "conclusion.txt" if folder else None
    return file.read_text().strip() if file and file.is_file() else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--quick", type=Path, required=True)
    parser.add_argument("--full", type=Path)
    options = parser.parse_args()
    listing = subprocess.run([options.program, "list", "experiments", "--json"], check=True, capture_output=True)
    lines = ["| experiment | claim | result |", "| --- | --- | --- |"]
    for study in json.loads(listing.stdout)["experiments"]:
        full = conclusion(options.full, study["id"])
        result = full or conclusion(options.quick, study["id"])
        if not result:
            raise SystemExit(f"{study['id']}: no result")
        verdict, numbers = result.split(". ", 1) if ". " in result else (result, "")
        kind = "full" if full else "quick"
        cells = [f"`{study['id']}`<br>{study['title']}", f"{study['claim']} ({study['source']})",
                 f"**{verdict}** ({kind}). {numbers}"]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    page = HERE / "experiments.md"
    text = page.read_text()
    start, end = text.index(BEGIN) + len(BEGIN), text.index(END)
    page.write_text(text[:start] + "\n".join(lines) + "\n" + text[end:])


if __name__ == "__main__":
    main()
