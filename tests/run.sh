#!/usr/bin/env bash
# Installs what is missing, builds, and runs all tests. With --sanitize: under AddressSanitizer and
# UndefinedBehaviorSanitizer. Further arguments go to ctest (-R NAME runs some of the tests).
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$top/.cmake/packages.sh"

build=${ATTNSCOPE_BUILD:-$top/build}
options=()
if [ "${1:-}" = --sanitize ]; then
  shift
  build=${ATTNSCOPE_BUILD:-$top/build-sanitize}
  options=(-DCMAKE_BUILD_TYPE=RelWithDebInfo -DATTNSCOPE_SANITIZE=address,undefined)
  export LSAN_OPTIONS=suppressions=$top/tests/support/leaks.supp:print_suppressions=0
fi

install_packages "${build_packages[@]}" "${test_packages[@]}"
cmake -S "$top" -B "$build" -G Ninja -DATTNSCOPE_TESTS=ON "${options[@]}"
cmake --build "$build"
cd "$build"
exec ctest --output-on-failure --no-tests=error -j "$(nproc)" "$@"
