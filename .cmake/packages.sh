# Debian packages for building and running the project, and a function that installs missing ones.
# Sourced by app/run.sh and tests/run.sh.

build_packages=(cmake ninja-build g++ pkg-config libimgui-dev libglfw3-dev libepoxy-dev
  libeigen3-dev libstb-dev nlohmann-json3-dev libcli11-dev libutf8proc-dev libonig-dev
  libcairo2-dev libpango1.0-dev libgif-dev libpng-dev libzip-dev zlib1g-dev fonts-inter fonts-dejavu-core libgl1-mesa-dri libegl1 libgl1)
test_packages=(libgtest-dev zlib1g-dev libbenchmark-dev libx11-dev xvfb xauth xdotool python3)
fuzz_packages=(clang-16 libclang-rt-16-dev)  # tests/fuzz/run.sh only

# install_packages NAME...: installs missing packages, as root or with sudo.
install_packages() {
  local missing=() name
  for name in "$@"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || missing+=("$name")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || {
      echo "Missing packages, and no sudo to install them: ${missing[*]}" >&2
      return 1
    }
    as_root=(sudo)
  fi
  echo "Installing ${missing[*]}" >&2
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}
