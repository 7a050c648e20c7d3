#include "core/experiment/run_files.h"

#include <array>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/checkpoint/checkpoint.h"

namespace attnscope {
namespace {

namespace fs = std::filesystem;

std::array<std::string*, 4> paths(RunSpec& run) {
  TensorFiles& tensors = run.tensors;
  return {&tensors.file, &tensors.tokens, &tensors.key_tokens, &run.input};
}

// Contents of the tensor files; nullopt if they are missing, unreadable or too large.
std::optional<EmbeddedFiles> read_tensor_files(const TensorFiles& files) {
  EmbeddedFiles contents;
  std::size_t free_bytes = kMaxEmbeddedBytes;
  try {
    for (const auto& [path, bytes] :
         {std::pair{&files.file, &contents.file}, std::pair{&files.tokens, &contents.tokens},
          std::pair{&files.key_tokens, &contents.key_tokens}}) {
      if (path->empty()) continue;
      *bytes = read_file(*path, free_bytes);
      free_bytes -= bytes->size();
    }
  } catch (const InputError&) {  // running the session reports the error
    return std::nullopt;
  }
  return contents;
}

bool is_missing(const std::string& path) {
  return !path.empty() && !file_exists(path);
}

}  // namespace

std::shared_ptr<const EmbeddedFiles> share_contents(EmbeddedFiles contents) {
  static std::mutex mutex;
  static std::vector<std::weak_ptr<const EmbeddedFiles>> known;
  const std::scoped_lock lock(mutex);
  std::erase_if(known, [](const auto& entry) { return entry.expired(); });
  for (const auto& entry : known) {
    std::shared_ptr<const EmbeddedFiles> existing = entry.lock();
    if (existing != nullptr && *existing == contents) return existing;
  }
  auto added = std::make_shared<const EmbeddedFiles>(std::move(contents));
  known.push_back(added);
  return added;
}

void embed_tensor_files(RunSpec& run) {
  if (run.tensors.file.empty() || run.tensors.embedded != nullptr) return;
  if (auto contents = read_tensor_files(run.tensors)) {
    run.tensors.embedded = share_contents(*std::move(contents));
  }
}

void shorten_paths(RunSpec& run, const fs::path& folder) {
  const fs::path base = fs::absolute(folder.empty() ? "." : folder).lexically_normal();
  for (std::string* path : paths(run)) {
    if (path->empty()) continue;
    const fs::path relative = fs::absolute(*path).lexically_normal().lexically_relative(base);
    if (!relative.empty() && *relative.begin() != "..") *path = relative.string();
  }
  const fs::path model(run.model);
  if (!model.is_absolute()) return;
  const std::string name = model.filename().string();
  try {
    if (!name.empty() && model_path(name) == model) run.model = name;
  } catch (const InputError&) {  // the name finds no model
  }
}

void find_files(RunSpec& run, const fs::path& folder) {
  TensorFiles& tensors = run.tensors;
  for (std::string* path : paths(run)) {
    const fs::path beside = folder / fs::path(*path);
    if (path->empty() || fs::path(*path).is_absolute() || !file_exists(beside)) continue;
    *path = fs::absolute(beside).lexically_normal().string();
  }
  if (tensors.embedded != nullptr) {
    const auto current = read_tensor_files(tensors);
    if (current == *tensors.embedded) tensors.embedded.reset();
  }
  for (std::string* path : paths(run)) {
    const bool is_embedded = path != &run.input && tensors.embedded != nullptr;
    if (is_embedded || !is_missing(*path)) continue;
    const fs::path candidate = folder / fs::path(*path).filename();
    if (file_exists(candidate)) *path = fs::absolute(candidate).lexically_normal().string();
  }
}

std::string missing_file(const RunSpec& run) {
  RunSpec copy = run;
  for (const std::string* path : paths(copy)) {
    const bool is_embedded = path != &copy.input && copy.tensors.embedded != nullptr;
    if (!is_embedded && is_missing(*path)) return *path;
  }
  return "";
}

void locate_missing_file(RunSpec& run, const fs::path& found) {
  const std::string missing = missing_file(run);
  const fs::path absolute_path = fs::absolute(found).lexically_normal();
  for (std::string* path : paths(run)) {
    if (*path == missing) *path = absolute_path.string();
  }
  find_files(run, absolute_path.parent_path());
}

}  // namespace attnscope
