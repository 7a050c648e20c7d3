#include "core/checkpoint/model_store.h"

#include "core/checkpoint/source.h"

namespace attnscope {

namespace {

// One name for all ways to say where something lies.
std::string canonical_name(const std::filesystem::path& path) {
  std::error_code failed;
  const std::filesystem::path found = std::filesystem::weakly_canonical(path, failed);
  return failed ? path.string() : found.string();
}

}  // namespace

ModelStore::Edition ModelStore::edition_of(const std::vector<std::filesystem::path>& files) {
  Edition edition;
  for (const std::filesystem::path& file : files) {
    std::error_code missing;
    const auto time = std::filesystem::last_write_time(file, missing);
    const std::uintmax_t bytes = std::filesystem::file_size(file, missing);
    edition.emplace_back(time, bytes);
  }
  return edition;
}

std::shared_ptr<const Checkpoint> ModelStore::checkpoint(const std::string& name_or_folder) {
  {
    const std::scoped_lock lock(mutex_);
    const auto given = given_.find(name_or_folder);
    if (given != given_.end()) return given->second;
  }
  const std::filesystem::path folder = model_folder(name_or_folder);
  return checkpoints_.get(canonical_name(folder) + "/" + model_tower(name_or_folder),
                          edition_of(checkpoint_container(folder).files(folder)),
                          [&] { return load_checkpoint(name_or_folder); });
}

std::shared_ptr<const Store> ModelStore::contexts(const std::string& file) {
  const std::string path = store_path(file).string();
  return contexts_.get(canonical_name(path), edition_of({path}), [&] { return load_store(path); });
}

void ModelStore::give(const std::string& name, std::shared_ptr<const Checkpoint> checkpoint) {
  const std::scoped_lock lock(mutex_);
  std::swap(given_[name], checkpoint);  // what was there goes when the lock is open again
}

void ModelStore::take_back(const std::string& name) {
  std::shared_ptr<const Checkpoint> gone;
  const std::scoped_lock lock(mutex_);
  const auto given = given_.find(name);
  if (given == given_.end()) return;
  gone = std::move(given->second);
  given_.erase(given);
}

const std::shared_ptr<ModelStore>& model_store() {
  static const auto store = std::make_shared<ModelStore>();
  return store;
}

}  // namespace attnscope
