#!/usr/bin/env python3
"""Checks README.md and assets/docs: links and anchors, commands and their options, paths, tables,
and the sections of the specification that the code cites.

    tests/documentation.py PROGRAM [TOP]

Fenced blocks that begin with "sh run" and the commands in the rows of articles.md are executed in an
empty folder where assets/ is linked; `attnscope` commands elsewhere are checked against the help of
the program. Prints one line for each problem; the exit status is 1 if there is one.
"""

import concurrent.futures
import functools
import glob
import os
import re
import shlex
import subprocess
import sys
import tempfile

MOST_README_LINES = 150
MOST_PICTURE_BYTES = 4 << 20
SECONDS_PER_COMMAND = 30
MOST_OPEN_CLAIMS = 10  # of articles.md: neither shown nor without a claim

# Options of other programs and scripts.
FOREIGN_OPTIONS = {
    "--build", "--install", "--preset", "--prefix", "--target",  # cmake
    "--sanitize", "--seconds",                                   # tests/run.sh, tests/fuzz/run.sh
    "--threads", "--rounds",                                     # tests/benchmark/compare_*.py
    "--check",                                                   # make_tables.py
    "--gtest_filter", "--benchmark_filter",
}
# Names in code spans that look like paths of the project but are patterns or outputs of a build.
NO_FILES = ("build", "tests/layouts/NAME", "tests/gguf/NAME.gguf", "tests/fuzz/found/TARGET")


class Checker:
    def __init__(self, program, top):
        self.program = os.path.abspath(program)
        self.top = os.path.abspath(top)
        self.docs = os.path.join(self.top, "assets", "docs")
        self.problems = []
        names = ["README.md"] + sorted(
            os.path.relpath(p, self.top) for p in glob.glob(os.path.join(self.docs, "*.md")))
        self.pages = {name: self.read(name) for name in names}

    def read(self, name):
        with open(os.path.join(self.top, name), encoding="utf-8") as file:
            return file.read()

    def report(self, place, problem):
        self.problems.append(f"{place}: {problem}")

    # Links, anchors, pictures.

    def anchors(self, name):
        found = {}
        for line in without_fences(self.pages[name]).split("\n"):
            if not re.match(r"#{1,6} ", line):
                continue
            slug = anchor_of(line.lstrip("#").strip())
            count = found.get(slug, 0)
            found[slug] = count + 1
            if count:
                found[f"{slug}-{count}"] = 1
        return set(found)

    def check_links(self):
        for name, page in self.pages.items():
            text = re.sub(r"`[^`\n]*`", "", without_fences(page))
            targets = re.findall(r"\]\(([^)\s]+)\)", text) + re.findall(r'<img src="([^"]+)"', text)
            for target in targets:
                self.check_link(name, target)

    def check_link(self, name, target):
        if re.match(r"[a-z]+:", target):
            return
        path, _, anchor = target.partition("#")
        file = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
        if not os.path.exists(os.path.join(self.top, file)):
            self.report(name, f"link: expected a file, found none at {target}")
        elif anchor and file in self.pages and anchor not in self.anchors(file):
            self.report(name, f"link: {file} has no heading #{anchor}")

    def check_index(self):
        index = self.pages["assets/docs/index.md"]
        listed = set(re.findall(r"^\* \[[^\]]+\]\(([\w-]+\.md)\)", index, flags=re.M))
        there = {os.path.basename(n) for n in self.pages if n != "README.md"} - {"index.md"}
        for file in sorted(there - listed):
            self.report("assets/docs/index.md", f"{file} is not listed")

    def check_sizes(self):
        lines = self.pages["README.md"].count("\n")
        if lines > MOST_README_LINES:
            self.report("README.md", f"expected at most {MOST_README_LINES} lines, found {lines}")
        pictures = glob.glob(os.path.join(self.docs, "pictures", "**", "*.*"), recursive=True)
        total = sum(os.path.getsize(p) for p in pictures)
        if total > MOST_PICTURE_BYTES:
            self.report("assets/docs/pictures",
                        f"expected at most {MOST_PICTURE_BYTES} bytes, found {total}")
        text = "\n".join(self.pages.values())
        for picture in pictures:
            relative = os.path.relpath(picture, self.docs)
            if not relative.endswith(".sh") and relative not in text:
                self.report("assets/docs/" + relative, "no page shows it")

    # Paths in code spans.

    def check_paths(self):
        span = re.compile(r"`((?:core|app|tests|assets|shaders|\.cmake)/[\w./-]+)`")
        for name, page in self.pages.items():
            for path in span.findall(without_fences(page)):
                if path.startswith(NO_FILES):
                    continue
                if not os.path.exists(os.path.join(self.top, path)) and not glob.glob(
                        os.path.join(self.top, path) + ".*"):
                    self.report(name, f"`{path}`: no such file")

    # Commands and options.

    @functools.lru_cache(maxsize=None)
    def help(self, command):
        arguments = [self.program, *([command] if command else []), "--help"]
        done = subprocess.run(arguments, capture_output=True, text=True)
        return done.stdout if done.returncode == 0 else ""

    def commands(self):
        return set(re.findall(r"^  ([a-z]+)(?: |$)", self.help(""), flags=re.M))

    @functools.lru_cache(maxsize=None)
    def options(self, command):
        return set(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", self.help(command)))

    def check_commands(self):
        known = self.commands()
        every = set().union(self.options(""), *(self.options(c) for c in known))
        for name, page in self.pages.items():
            for line in command_lines(page):
                self.check_command(name, line, known)
            # Options by themselves, or behind the name of a command: "render --view map".
            for span in re.findall(r"`([^`]*)`", without_fences(page)):
                first = re.split(r"\s+", span)[0]
                if first not in known and not first.startswith("--"):
                    continue
                allowed = self.options(first) | self.options("") if first in known else every
                for option in re.findall(r"(?<!\S)(--[a-z][\w-]*)", span):
                    if option not in allowed | FOREIGN_OPTIONS:
                        self.report(name, f"`{span}`: no such option {option}")

    def check_command(self, name, line, known):
        words = re.split(r"\s+", line.strip())[1:]
        command = words[0] if words and words[0] in known else ""
        if words and not command and re.fullmatch(r"[a-z]+", words[0]):
            self.report(name, f"{line.strip()}: no such command")
            return
        allowed = self.options(command) | self.options("") if command else (
            self.options("") | self.options("window"))
        for option in re.findall(r"(?<!\S)(--[a-z][\w-]*)", line):
            if option not in allowed:
                self.report(name, f"{line.strip()}: no such option {option}")

    def check_runs(self):
        blocks = []
        for name, page in self.pages.items():
            for block in re.findall(r"^```sh run\n(.*?)^```", page, flags=re.M | re.S):
                blocks.append((name, [line for line in block.split("\n") if line.strip()]))
        articles = "assets/docs/articles.md"
        for row in re.findall(r"^\| \d+ \|.*$", self.pages[articles], flags=re.M):
            blocks.append((articles, re.findall(r"`(attnscope [^`]*)`", row)))
        with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
            list(pool.map(lambda of: self.run_block(*of), blocks))
        return len(blocks)

    def run_block(self, name, lines):
        with tempfile.TemporaryDirectory() as folder:
            os.symlink(os.path.join(self.top, "assets"), os.path.join(folder, "assets"))
            environment = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
            environment["HOME"] = folder
            for line in lines:
                words = shlex.split(line, comments=True)
                if words[0] != "attnscope":
                    self.report(name, f"{line}: only attnscope commands are run")
                    continue
                try:
                    done = subprocess.run([self.program] + words[1:], cwd=folder, env=environment,
                                          capture_output=True, text=True, timeout=SECONDS_PER_COMMAND)
                except subprocess.TimeoutExpired:
                    self.report(name, f"{line}: runs for more than {SECONDS_PER_COMMAND} s")
                    continue
                if done.returncode != 0:
                    self.report(name, f"{line}: exit status {done.returncode}: {done.stderr.strip()}")

    # Rows of the articles.

    def check_articles(self):
        name = "assets/docs/articles.md"
        columns = ("row", "articles", "subject", "computed", "in a model", "drawn", "claim", "command", "note")
        rows = []
        for line in re.findall(r"^\| \d+ \|.*$", self.pages[name], flags=re.M):
            cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
            if len(cells) != len(columns):
                self.report(name, f"row {cells[0]}: expected {len(columns)} cells, found {len(cells)}")
                return
            rows.append(dict(zip(columns, cells)))
        experiments = {os.path.basename(file)[:-5] for file in
                       glob.glob(os.path.join(self.top, "assets", "experiments", "*.json"))}
        for row in rows:
            place = f"{name}: row {row['row']}"
            if row["claim"] not in ("yes", "partly", "against", "no", "–"):
                self.report(place, f"claim: expected yes, partly, against, no or –, found {row['claim']}")
            if row["claim"] not in ("yes", "–") and not row["note"]:
                self.report(place, "note: expected the reason why the claim is not shown, found nothing")
            cited = re.search(r"experiments? ((?:`[\w-]+`(?:, | and )?)+)", row["note"])
            for experiment in re.findall(r"`([\w-]+)`", cited[1]) if cited else []:
                if experiment not in experiments:
                    self.report(place, f"no experiment {experiment}")
        self.check_article_counts(name, rows)

    def check_article_counts(self, name, rows):
        done = ("computed", "in a model", "drawn")
        counts = [sum(row[column] == "yes" for row in rows) for column in done]
        complete = sum(all(row[column] == "yes" for column in done) for row in rows)
        claims = [row["claim"] for row in rows if row["claim"] != "–"]
        shown = claims.count("yes")
        sentences = (
            f"Of {len(rows)} rows, {counts[0]} are computed, {counts[1]} run in a model, {counts[2]} are drawn, "
            f"and {complete} are all three.",
            f"Of {len(claims)} claims, {shown} are shown, {claims.count('partly')} partly; "
            f"{claims.count('against')} came out against the article, and {claims.count('no')} are not measured.")
        text = re.sub(r"\s+", " ", self.pages[name])
        for sentence in sentences:
            if sentence not in text:
                self.report(name, f"expected the sentence \"{sentence}\"")
        if len(claims) - shown > MOST_OPEN_CLAIMS:
            self.report(name, f"expected at most {MOST_OPEN_CLAIMS} open claims, found {len(claims) - shown}")

    # Sections that code cites.

    def check_sections(self):
        numbers = {}
        for file in ("spec.md", "spec-models.md"):
            page = self.pages["assets/docs/" + file]
            numbers[file] = set(re.findall(r"^#+ (\d+(?:\.\d+)?)\.? ", page, flags=re.M))
        cited = re.compile(r"\b(SPEC-MODELS|SPEC|spec-models|spec)(?:\.md)?,?\s+sections?\s+"
                           r"(\d+(?:\.\d+)?)")
        count = 0
        for folder in ("core", "app", "shaders", "tests"):
            for path, _, files in os.walk(os.path.join(self.top, folder)):
                for file in files:
                    if not file.endswith((".h", ".cpp", ".inc", ".py", ".glsl", ".md")):
                        continue
                    name = os.path.relpath(os.path.join(path, file), self.top)
                    # Comments may break lines between the words.
                    text = re.sub(r"\n\s*(?://|#)?\s*", " ", self.read(name))
                    for page, section in cited.findall(text):
                        count += 1
                        if section not in numbers[page.lower() + ".md"]:
                            self.report(name, f"{page.lower()}.md has no section {section}")
        return count

    def check_tables(self):
        script = os.path.join(self.docs, "make_tables.py")
        done = subprocess.run([sys.executable, script, self.program, "--check"], capture_output=True,
                              text=True)
        for line in done.stdout.split("\n"):
            if line:
                self.report("assets/docs", f"{line} (assets/docs/make_tables.py PROGRAM writes it)")
        if done.returncode not in (0, 1):
            self.report("assets/docs/make_tables.py", done.stderr.strip())


def without_fences(page):
    return re.sub(r"^```.*?^```", "", page, flags=re.M | re.S)


def anchor_of(heading):
    """Anchor of a heading, as on GitHub."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    text = re.sub(r"[^\w\- ]", "", text.lower())
    return text.replace(" ", "-")


def command_lines(page):
    """`attnscope ...` in fenced blocks and in code spans, without comments; lines that end in a
    backslash are joined."""
    joined = re.sub(r"\\\n\s*", " ", page)
    fences = re.findall(r"^```sh.*?\n(.*?)^```", joined, flags=re.M | re.S)
    lines = [line.split(" # ")[0] for fence in fences for line in fence.split("\n")
             if line.startswith("attnscope ")]
    return lines + re.findall(r"`(attnscope [^`]*)`", re.sub(r"\s+", " ", without_fences(joined)))


def main(arguments):
    if len(arguments) not in (1, 2):
        raise SystemExit(__doc__)
    top = arguments[1] if len(arguments) == 2 else os.path.dirname(
        os.path.dirname(os.path.abspath(__file__)))
    checker = Checker(arguments[0], top)
    checker.check_sizes()
    checker.check_links()
    checker.check_index()
    checker.check_paths()
    checker.check_commands()
    checker.check_articles()
    cited = checker.check_sections()
    checker.check_tables()
    run = checker.check_runs()
    for problem in checker.problems:
        print(problem)
    print(f"{len(checker.pages)} pages, {run} blocks run, {cited} sections cited, "
          f"{len(checker.problems)} problems")
    return 1 if checker.problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
