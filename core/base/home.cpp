#include "core/base/home.h"

#include <sys/auxv.h>

#include <cstdlib>

namespace attnscope {
namespace {

// Path of the running executable; empty if unknown.
std::filesystem::path program_file() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (!error) return program;
  // Without /proc, uses the path that started the program.
  const auto* argv0 = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
  if (argv0 == nullptr) return {};
  return std::filesystem::canonical(argv0, error);
}

std::filesystem::path default_home() {
  std::error_code error;
  const auto installed = program_file().parent_path().parent_path() / "share" / "attnscope";
  if (std::filesystem::is_directory(installed / "assets", error)) return installed;
  return ATTNSCOPE_CONFIGURED_HOME;
}

}  // namespace

std::filesystem::path home_folder() {
  const char* configured = std::getenv("ATTNSCOPE_HOME");
  if (configured != nullptr && *configured != '\0') return configured;
  static const std::filesystem::path folder = default_home();
  return folder;
}

std::filesystem::path user_models_folder() {
  const auto is_set = [](const char* value) { return value != nullptr && *value != '\0'; };
  const char *data = std::getenv("XDG_DATA_HOME"), *home = std::getenv("HOME");
  std::filesystem::path folder = is_set(home) ? home : "/";
  const bool has_data = is_set(data) && *data == '/';  // XDG declares relative paths invalid
  folder = has_data ? std::filesystem::path(data) : folder / ".local" / "share";
  return folder / "attnscope" / "models";
}

}  // namespace attnscope
