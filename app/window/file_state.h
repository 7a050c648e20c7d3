// File part of the window's state.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "app/window/jobs/background_task.h"
#include "core/experiment/session.h"

namespace attnscope::window {

// A file read into memory; applying `change` is fast.
using Change = std::function<RunView(RunView now)>;  // throws InputError if incompatible with `now`
struct ReadFile {
  Change change{};
  std::shared_ptr<const Session> session{};  // not null: replaces everything
};

// A large file being read in the background.
struct OpeningFile {
  std::filesystem::path path;
  std::unique_ptr<BackgroundTask<ReadFile>> task;
};

}  // namespace attnscope::window
