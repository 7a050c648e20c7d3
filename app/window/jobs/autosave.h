// Autosave: saves changes within two seconds; after a crash, the next start offers to restore them.
#pragma once

#include <ctime>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/window/edited_session.h"

namespace attnscope::window {

inline constexpr double kAutosaveSeconds = 1.5;

struct AbandonedSession {
  std::filesystem::path file;
  std::time_t saved_at = 0;
};

class Autosave {
 public:
  // Saves to a file in `folder` whose name contains the process id.
  explicit Autosave(std::filesystem::path folder);

  // Autosaves of processes that no longer run, newest first.
  std::vector<AbandonedSession> abandoned_sessions() const;
  // Sets a restored file. The next save or finish() deletes it.
  void replace(std::filesystem::path abandoned_file) { replaced_file_ = std::move(abandoned_file); }

  // Call when the session may have changed; writes kAutosaveSeconds after the first unsaved change.
  // Returns an error message if writing fails and the previous attempt succeeded, otherwise "".
  std::string save_if_due(const SharedSession& session, double seconds);
  // Writes immediately, for fatal errors. Returns the error message; empty on success.
  std::string save_now(const Session& session);
  // Time at which save_if_due() writes next; nullopt: no unsaved change.
  std::optional<double> due() const { return due_time_; }
  void finish();  // clean exit: deletes the files

 private:
  void write(const Session& session);

  std::filesystem::path folder_, file_, replaced_file_;
  SharedSession last_session_;  // null before the first call
  std::optional<double> due_time_;
  bool has_failed_ = false;
};

}  // namespace attnscope::window
