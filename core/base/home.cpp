#include "core/base/home.h"

#include <cstdlib>

namespace attnscope {

namespace {

std::filesystem::path usual_folder() {
  std::error_code failed;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (!failed) {
    const auto installed = program.parent_path().parent_path() / "share" / "attnscope";
    if (std::filesystem::is_directory(installed / "assets", failed)) return installed;
  }
  return ATTNSCOPE_CONFIGURED_HOME;
}

}  // namespace

std::filesystem::path home_folder() {
  const char* chosen = std::getenv("ATTNSCOPE_HOME");
  if (chosen != nullptr && *chosen != '\0') return chosen;
  static const std::filesystem::path usual = usual_folder();
  return usual;
}

}  // namespace attnscope
