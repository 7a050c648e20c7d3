#include "core/base/home.h"

#include <sys/auxv.h>

#include <cstdlib>

namespace attnscope {
namespace {

// Path of the running executable; empty if unknown.
std::filesystem::path program_file() {
  std::error_code failed;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (!failed) return program;
  // Without /proc: the path in argv[0].
  const auto* started = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  if (started == nullptr) return {};
  return std::filesystem::canonical(started, failed);
}

std::filesystem::path default_home() {
  std::error_code failed;
  const auto installed = program_file().parent_path().parent_path() / "share" / "attnscope";
  if (std::filesystem::is_directory(installed / "assets", failed)) return installed;
  return ATTNSCOPE_CONFIGURED_HOME;
}

}  // namespace

std::filesystem::path home_folder() {
  const char* chosen = std::getenv("ATTNSCOPE_HOME");
  if (chosen != nullptr && *chosen != '\0') return chosen;
  static const std::filesystem::path usual = default_home();
  return usual;
}

}  // namespace attnscope
