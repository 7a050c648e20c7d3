// Each model in memory once, whoever works with it: runs, exports, the measuring of heads and
// commands all ask the same store. So are the contexts that models retrieve from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/base/resident.h"
#include "core/checkpoint/checkpoint.h"
#include "core/model/retrieval.h"

namespace attnscope {

// May be used from several threads. What it gives does not change; a file that was written since
// is read anew, and whoever holds the earlier model keeps that.
class ModelStore {
 public:
  // The model that was given this name (see give), else that of load_checkpoint(). InputErrors as
  // there.
  std::shared_ptr<const Checkpoint> checkpoint(const std::string& name_or_folder);

  // As load_store() of a bundled store or a file.
  std::shared_ptr<const Store> contexts(const std::string& file);

  // A model that lies in no folder under a name of its own, such as one that is being trained
  // (Trainer::snapshot); the next one takes its place. take_back: the name is that of a folder
  // again.
  void give(const std::string& name, std::shared_ptr<const Checkpoint> checkpoint);
  void take_back(const std::string& name);

  // How often a checkpoint was read from its files.
  Index reads() const { return checkpoints_.reads(); }

 private:
  // Of each file when it was written and its bytes; what is missing stands there as such.
  using Edition = std::vector<std::pair<std::filesystem::file_time_type, std::uintmax_t>>;
  static Edition edition_of(const std::vector<std::filesystem::path>& files);

  static constexpr std::size_t kMostCheckpoints = 2;  // beyond those in use: enough to compare two
  static constexpr std::size_t kMostContexts = 1;

  Resident<Checkpoint, Edition> checkpoints_{kMostCheckpoints};
  Resident<Store, Edition> contexts_{kMostContexts};
  std::mutex mutex_;  // guards `given_`
  std::map<std::string, std::shared_ptr<const Checkpoint>> given_;
};

// The one of this process.
const std::shared_ptr<ModelStore>& model_store();

}  // namespace attnscope
