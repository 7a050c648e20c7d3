// Shared models: one copy of each checkpoint and retrieval store per process, for runs, exports,
// head statistics and commands.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/base/shared_cache.h"
#include "core/checkpoint/checkpoint.h"
#include "core/model/retrieval.h"

namespace attnscope {

// Version of a model. Changes when the model is published or its files are modified.
struct ModelVersion {
  std::shared_ptr<const Checkpoint> checkpoint{};
  std::uint64_t number = 0;  // publication number; 0: read from files
  bool operator==(const ModelVersion&) const = default;
};

// Thread-safe. Checkpoints are immutable: publishing a model or modifying its files creates a new
// version, and users of an earlier version keep that version.
class ModelStore {
 public:
  // Model published under this name, otherwise the result of load_checkpoint(), which may throw
  // InputError.
  ModelVersion current(const std::string& name_or_folder);
  std::shared_ptr<const Checkpoint> checkpoint(const std::string& name_or_folder) {
    return current(name_or_folder).checkpoint;
  }

  // Retrieval store, as load_store() reads it from a bundled store or a file.
  std::shared_ptr<const Store> contexts(const std::string& file);

  // Publishes an in-memory model, such as Trainer::snapshot(), under `name`, replacing the previous
  // one. Runs that use this name are then repeated.
  void publish(const std::string& name, std::shared_ptr<const Checkpoint> checkpoint);
  void withdraw(const std::string& name);  // makes `name` refer to files again
  // Number of calls of publish() and withdraw(): changes when runs may be out of date.
  std::uint64_t publications() const;

  // Number of times that a checkpoint was read from its files.
  Index reads() const { return checkpoints_.reads(); }

 private:
  // Modification time and size of each file; error values for a missing file.
  using FileStamps = std::vector<std::pair<std::filesystem::file_time_type, std::uintmax_t>>;
  static FileStamps file_stamps(const std::vector<std::filesystem::path>& files);

  static constexpr std::size_t kMaxCheckpoints = 2;  // cached besides checkpoints in use
  static constexpr std::size_t kMaxContexts = 1;

  SharedCache<Checkpoint, FileStamps> checkpoints_{kMaxCheckpoints};
  SharedCache<Store, FileStamps> contexts_{kMaxContexts};
  mutable std::mutex mutex_;  // guards the members below
  std::map<std::string, ModelVersion> published_;
  std::uint64_t publications_ = 0;
};

// The store of this process.
const std::shared_ptr<ModelStore>& model_store();

}  // namespace attnscope
