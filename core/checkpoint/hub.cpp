#include "core/checkpoint/hub.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/limits.h"
#include "core/checkpoint/source.h"

namespace attnscope {

namespace fs = std::filesystem;

namespace {

constexpr const char* kPrefix = "models--";
constexpr const char* kSlash = "--";  // "/" in folder names
constexpr const char* kMain = "main";

std::optional<fs::path> from_environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return fs::path(value);
}

struct HubName {
  std::string model, revision = kMain;
};

HubName parse_hub_name(const std::string& name) {
  const std::size_t at = name.find('@');
  if (at == std::string::npos) return {name};
  return {name.substr(0, at), name.substr(at + 1)};
}

fs::path model_cache(const std::string& model) {
  std::string folder = kPrefix + model;
  if (const std::size_t slash = folder.find('/'); slash != std::string::npos) {
    folder.replace(slash, 1, kSlash);
  }
  return hub_cache() / folder;
}

std::string without_space(std::string text) {
  std::erase_if(text, [](unsigned char c) { return std::isspace(c) != 0; });
  return text;
}

}  // namespace

fs::path hub_cache() {
  for (const char* name : {"HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"}) {
    if (const auto folder = from_environment(name)) return *folder;
  }
  if (const auto home = from_environment("HF_HOME")) return *home / "hub";
  const fs::path hub_path = fs::path("huggingface") / "hub";
  // The XDG specification declares relative paths invalid.
  const auto caches = from_environment("XDG_CACHE_HOME");
  if (caches && caches->is_absolute()) return *caches / hub_path;
  return from_environment("HOME").value_or("/") / ".cache" / hub_path;
}

namespace {

// True for a single path component without special meaning.
bool is_path_component(const std::string& word) {
  const auto plain = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
  };
  return !word.empty() && word[0] != '.' && word.find("..") == std::string::npos &&
         std::ranges::all_of(word, plain);
}

}  // namespace

bool is_hub_name(const std::string& name) {
  const HubName parts = parse_hub_name(name);
  const std::size_t slash = parts.model.find('/');
  const bool valid_revision = is_path_component(parts.revision);
  if (slash == std::string::npos) return valid_revision && is_path_component(parts.model);
  return valid_revision && is_path_component(parts.model.substr(0, slash)) &&
         is_path_component(parts.model.substr(slash + 1));
}

std::optional<fs::path> hub_folder(const std::string& name) {
  if (!is_hub_name(name)) return std::nullopt;
  const auto [model, revision] = parse_hub_name(name);
  const fs::path folder = model_cache(model);
  std::error_code ignored;  // an inaccessible folder counts as missing
  if (!fs::is_directory(folder, ignored)) return std::nullopt;
  std::string commit = revision;
  const fs::path reference = folder / "refs" / revision;
  if (fs::is_regular_file(reference, ignored)) {
    commit = without_space(read_file(reference, limits::kMaxReference));
    if (!is_path_component(commit)) {
      throw InputError("model " + name + ": expected a commit in " + reference.string() +
                       ", found \"" + commit + "\"");
    }
  } else if (!fs::is_directory(folder / "snapshots" / commit, ignored)) {
    throw InputError("model " + name + ": expected " + reference.string() +
                     ", which names the downloaded commit, found no such file");
  }
  const fs::path snapshot = folder / "snapshots" / commit;
  if (commit.empty() ||
      (!fs::exists(snapshot / "config.json", ignored) && !gguf_in_folder(snapshot))) {
    throw InputError("model " + name + ": expected " + (snapshot / "config.json").string() +
                     " or a GGUF file, found neither: is the download complete?");
  }
  return snapshot;
}

std::string missing_in_hub(const std::string& name) {
  return "no " + model_cache(parse_hub_name(name).model).string();
}

std::vector<std::string> hub_models() {
  std::vector<std::string> names;
  std::error_code code;
  for (fs::directory_iterator at(hub_cache(), code), end; !code && at != end; at.increment(code)) {
    std::string name = at->path().filename().string();
    if (!name.starts_with(kPrefix)) continue;
    name.erase(0, std::string(kPrefix).size());
    // Organisation names contain no "--"; a model without an organisation has no separator.
    if (const std::size_t separator = name.find(kSlash); separator != std::string::npos) {
      name.replace(separator, 2, "/");
    }
    try {
      if (hub_folder(name)) names.push_back(name);
    } catch (const std::exception&) {  // incomplete or unreadable: reported on loading
    }
  }
  std::ranges::sort(names);
  return names;
}

}  // namespace attnscope
