// Part of the window's state: files.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/window/jobs/autosave.h"
#include "app/window/jobs/background_task.h"
#include "core/experiment/session.h"

namespace attnscope::window {

// Applies a file's content to a run; fast. Throws InputError if the run cannot use the content.
using Change = std::function<RunView(RunView current)>;

struct ReadFile {  // a file read into memory
  Change change{};
  std::shared_ptr<const Session> session{};  // if not null, replaces the whole session
};

// A large file being read in the background.
struct OpeningFile {
  std::filesystem::path path;
  std::unique_ptr<BackgroundTask<ReadFile>> task;
};

struct FileState {
  std::filesystem::path session;            // target of Ctrl+S; empty: Ctrl+S asks for a file
  std::vector<AbandonedSession> abandoned;  // of crashed processes; the first one is offered
  std::filesystem::path restored;    // restored autosave; deleted once the session is saved again
  std::vector<OpeningFile> opening;  // only the last file is applied; the others are cancelled
  std::unique_ptr<BackgroundTask<std::string>> fetching;  // returns a model's path; null: none
  std::string fetched_name;
  // Unedited session of the action New; its first run opens on a salient pair.
  std::shared_ptr<const Session> new_session;  // null: none
};

}  // namespace attnscope::window
