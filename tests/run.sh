#!/usr/bin/env bash
# Installs missing packages, builds, and runs all tests.
#   tests/run.sh [--sanitize [address|thread]] [CTEST'S ARGUMENTS]     -R NAME runs matching suites
# --sanitize, --sanitize address: builds in build-sanitize and runs all tests under AddressSanitizer
# and UndefinedBehaviorSanitizer. --sanitize thread: builds in build-sanitize-thread and runs the
# multithreaded tests (tests/threads) under ThreadSanitizer.
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
. "$top/.cmake/packages.sh"

build=${ATTNSCOPE_BUILD:-$top/build}
options=()
case ${1:-} in
  -h | --help)
    sed -n '2,/^set/{s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
    exit 0
    ;;
  --sanitize)
    shift
    which=address
    case ${1:-} in
      address | thread)
        which=$1
        shift
        ;;
    esac
    if [ "$which" = address ]; then
      build=${ATTNSCOPE_BUILD:-$top/build-sanitize}
      options=(-DCMAKE_BUILD_TYPE=RelWithDebInfo -DATTNSCOPE_SANITIZE=address,undefined)
      export LSAN_OPTIONS=suppressions=$top/tests/support/leaks.supp:print_suppressions=0
    else
      build=${ATTNSCOPE_BUILD:-$top/build-sanitize-thread}
      # -O1 halves the build time, and preserves the memory accesses that race detection checks.
      options=(-DCMAKE_BUILD_TYPE=RelWithDebInfo "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -DNDEBUG"
        -DATTNSCOPE_SANITIZE=thread)
      export TSAN_OPTIONS=suppressions=$top/tests/threads/races.supp:halt_on_error=1
      # Each action is about ten times slower under ThreadSanitizer.
      export ATTNSCOPE_MONKEY_ACTIONS=${ATTNSCOPE_MONKEY_ACTIONS:-300}
    fi
    ;;
esac

install_packages "${build_packages[@]}" "${test_packages[@]}"
cmake -S "$top" -B "$build" -G Ninja -DATTNSCOPE_TESTS=ON "${options[@]}"
cmake --build "$build"
cd "$build"
# One more than the processors: tests of the window also wait for frames.
exec ctest --output-on-failure --no-tests=error -j "$(($(nproc) + 1))" "$@"
