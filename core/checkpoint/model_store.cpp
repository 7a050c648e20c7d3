#include "core/checkpoint/model_store.h"

#include "core/checkpoint/source.h"

namespace attnscope {
namespace {

// Canonical path, so that every spelling of a path is the same key.
std::string canonical_name(const std::filesystem::path& path) {
  std::error_code error;
  const std::filesystem::path found = std::filesystem::weakly_canonical(path, error);
  return error ? path.string() : found.string();
}

}  // namespace

ModelStore::FileStamps ModelStore::file_stamps(const std::vector<std::filesystem::path>& files) {
  FileStamps stamps;
  for (const std::filesystem::path& file : files) {
    std::error_code missing;
    const auto time = std::filesystem::last_write_time(file, missing);
    const std::uintmax_t bytes = std::filesystem::file_size(file, missing);
    stamps.emplace_back(time, bytes);
  }
  return stamps;
}

ModelVersion ModelStore::current(const std::string& name_or_folder) {
  {
    const std::scoped_lock lock(mutex_);
    const auto found = published_.find(name_or_folder);
    if (found != published_.end()) return found->second;
  }
  const std::filesystem::path path = model_path(name_or_folder);
  return {checkpoints_.get(canonical_name(path) + "/" + model_tower(name_or_folder),
                           file_stamps(checkpoint_container(path).files(path)),
                           [&] { return load_checkpoint(name_or_folder); })};
}

std::shared_ptr<const Store> ModelStore::contexts(const std::string& file) {
  const std::string path = store_path(file).string();
  return contexts_.get(canonical_name(path), file_stamps({path}), [&] { return load_store(path); });
}

void ModelStore::publish(const std::string& name, std::shared_ptr<const Checkpoint> checkpoint) {
  ModelVersion version{std::move(checkpoint), 0};
  const std::scoped_lock lock(mutex_);
  version.number = ++publications_;
  std::swap(published_[name], version);  // the earlier version is freed after unlocking
}

void ModelStore::withdraw(const std::string& name) {
  ModelVersion version;
  const std::scoped_lock lock(mutex_);
  const auto published = published_.find(name);
  if (published == published_.end()) return;
  ++publications_;
  version = std::move(published->second);
  published_.erase(published);
}

std::uint64_t ModelStore::publications() const {
  const std::scoped_lock lock(mutex_);
  return publications_;
}

const std::shared_ptr<ModelStore>& model_store() {
  static const auto store = std::make_shared<ModelStore>();
  return store;
}

}  // namespace attnscope
