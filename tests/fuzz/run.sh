#!/usr/bin/env bash
# Fuzzes the readers with libFuzzer under AddressSanitizer and UndefinedBehaviorSanitizer.
#   tests/fuzz/run.sh [--seconds N] [TARGET...]     default: 60 seconds each, all targets
# Installs Clang if it is missing, builds the targets, creates the corpora from test data, and
# stores findings in $ATTNSCOPE_FUZZ_FINDINGS (default: BUILD/findings). Exits with status 1 if
# there are findings.
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
. "$top/.cmake/packages.sh"
seconds=60
targets=()
while [ $# -gt 0 ]; do
  case $1 in
    --seconds)
      seconds=${2:?--seconds: expected a number}
      shift
      ;;
    -*)
      echo "tests/fuzz/run.sh [--seconds N] [TARGET...]" >&2
      exit 2
      ;;
    *) targets+=("$1") ;;
  esac
  shift
done

build=${ATTNSCOPE_BUILD:-$top/build-fuzz}
findings=${ATTNSCOPE_FUZZ_FINDINGS:-$build/findings}
# Clang 16 is the first version that compiles the standard library's ranges.
clang=$(command -v clang++-16 || command -v clang++ || true)
version=$("${clang:-false}" -dumpversion 2>/dev/null || echo 0)
[ "${version%%.*}" -ge 16 ] || install_packages "${fuzz_packages[@]}"
clang=$(command -v clang++-16 || command -v clang++)
install_packages "${build_packages[@]}"
cmake -S "$top" -B "$build" -G Ninja -DCMAKE_CXX_COMPILER="$clang" \
  -DATTNSCOPE_FUZZ=ON -DATTNSCOPE_APP=OFF
cmake --build "$build" --target fuzz

all=$(grep -o '[a-z_]*_target()' "$top/tests/fuzz/targets.cpp" | sed 's/_target()//')
[ ${#targets[@]} -gt 0 ] || mapfile -t targets <<<"$all"
export UBSAN_OPTIONS=print_stacktrace=1
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1
failed=()
for target in "${targets[@]}"; do
  grep -qx "$target" <<<"$all" || {
    echo "target: expected one of" $all", found $target" >&2
    exit 2
  }
  program=$build/tests/fuzz/fuzz_$target
  ln -sf fuzz "$program"
  corpus=$build/corpus/$target
  mkdir -p "$corpus" "$findings/$target"
  "$program" --corpus="$corpus" >/dev/null 2>&1
  cp -n "$top/tests/fuzz/found/$target/"* "$corpus/" 2>/dev/null || true
  log=$findings/$target.log
  status=0
  "$program" "$corpus" -max_total_time="$seconds" -max_len=100000 -rss_limit_mb=2560 \
    -malloc_limit_mb=512 -timeout=20 -seed=1 -dict="$top/tests/fuzz/dictionary" -verbosity=0 \
    -print_final_stats=1 -artifact_prefix="$findings/$target/" >"$log" 2>&1 || status=$?
  echo "$target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs" \
    "$([ $status -eq 0 ] && echo "without findings" || echo "with a finding: $findings/$target, $log")"
  [ $status -eq 0 ] || failed+=("$target")
done
[ ${#failed[@]} -eq 0 ] || {
  echo "findings in: ${failed[*]}; see $findings" >&2
  exit 1
}
