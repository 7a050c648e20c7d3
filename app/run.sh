#!/usr/bin/env bash
# Installs missing packages, builds, and starts attnscope with the given arguments. Without a display
# it renders the gallery to a folder instead and prints its path. Before it first starts the window or
# the gallery, it fetches SmolLM2-135M (see get-model.sh), unless ATTNSCOPE_MODEL=none.
set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=${ATTNSCOPE_BUILD:-$top/build}
. "$top/.cmake/packages.sh"

install_packages "${build_packages[@]}"
# Disables tests in a new build folder only; an existing one may have compiled tests.
[ -f "$build/CMakeCache.txt" ] || without_tests=-DATTNSCOPE_TESTS=OFF
cmake -S "$top" -B "$build" -G Ninja ${without_tests-} >&2
cmake --build "$build" --target attnscope >&2

if [ "${1-window}" = window ] && [ "${ATTNSCOPE_MODEL-}" != none ] && [ ! -e "$build/model-fetched" ]; then
  if "$top/app/get-model.sh" smollm2 >/dev/null; then
    touch "$build/model-fetched"  # A model that the user deletes is not fetched again.
  else
    echo "Continuing with the bundled model." >&2
  fi
fi
if [ $# -gt 0 ] || [ -n "${DISPLAY:-}" ] || [ -n "${WAYLAND_DISPLAY:-}" ]; then
  exec "$build/attnscope" "$@"
fi
gallery=${ATTNSCOPE_GALLERY:-$build/gallery}
"$build/attnscope" gallery "$gallery"
echo "No display. The gallery is in $gallery; open $gallery/index.html."
