#include "app/window/samples.h"

#include <algorithm>
#include <filesystem>

#include "app/window/utf8.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/home.h"
#include "core/experiment/experiment.h"

namespace attnscope::window {

std::vector<std::string> load_samples() {
  std::vector<std::filesystem::path> files;
  std::error_code failed;
  std::filesystem::directory_iterator folder(home_folder() / "assets" / "samples", failed);
  if (failed) return {};
  for (const auto& file : folder) {
    if (file.path().extension() == ".txt") files.push_back(file.path());
  }
  std::sort(files.begin(), files.end());
  std::vector<std::string> texts;
  for (const std::filesystem::path& file : files) {
    try {
      texts.push_back(read_file(file, kMostTextBytes));
    } catch (const InputError&) {
      continue;  // removed since the folder was listed
    }
  }
  return texts;
}

std::string headline(const std::string& text, std::size_t most_characters) {
  std::string line;
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); at = next_character(text, at)) {
    if (count++ == most_characters) return line + "…";
    const char c = text[at];
    line += c == '\n' ? " " : text.substr(at, code_point_at(text, at).bytes);
  }
  return line;
}

}  // namespace attnscope::window
