#include "app/window/jobs/autosave.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <functional>
#include <utility>

#include "core/base/file.h"
#include "core/view/session_file.h"

namespace attnscope::window {
namespace {

constexpr std::string_view kPrefix = "autosave-", kSuffix = ".json";

// The process id in a file's name; 0 for other files.
pid_t process_id(const std::string& name) {
  if (name.size() <= kPrefix.size() + kSuffix.size()) return 0;
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return 0;
  const char* first = name.data() + kPrefix.size();
  const char* last = name.data() + name.size() - kSuffix.size();
  pid_t process = 0;
  const auto [end, error] = std::from_chars(first, last, process);
  return error == std::errc() && end == last && process > 0 ? process : 0;
}

// A process's program name; empty if unknown.
std::string program_name(const std::string& process) {
  std::ifstream file("/proc/" + process + "/comm");
  std::string name;
  std::getline(file, name);
  return name;
}

// Process ids are reused, at the latest after a reboot, so the program's name must match.
bool is_running(pid_t process) {
  if (kill(process, 0) != 0 && errno != EPERM) return false;
  const std::string name = program_name(std::to_string(process));
  return name.empty() || name == program_name("self");
}

}  // namespace

Autosave::Autosave(std::filesystem::path folder) : folder_(std::move(folder)) {
  file_ = folder_ / (std::string(kPrefix) + std::to_string(getpid()) + std::string(kSuffix));
}

std::vector<AbandonedSession> Autosave::abandoned_sessions() const {
  std::error_code error;
  std::vector<AbandonedSession> sessions;
  std::filesystem::directory_iterator files(folder_, error);
  for (; !error && files != std::filesystem::directory_iterator(); files.increment(error)) {
    const std::filesystem::path& file = files->path();
    const pid_t process = process_id(file.filename().string());
    struct stat status {};
    if (process == 0 || is_running(process) || ::stat(file.c_str(), &status) != 0) continue;
    sessions.push_back({file, status.st_mtime});
  }
  std::ranges::sort(sessions, std::greater(), &AbandonedSession::saved_at);
  return sessions;
}

std::string Autosave::save_if_due(const SharedSession& session, double seconds) {
  const SharedSession previous = std::exchange(last_session_, session);
  const bool has_changed = previous != nullptr && !same_session(previous, session);
  if (has_changed && !due_time_) due_time_ = seconds + kAutosaveSeconds;
  if (!due_time_ || seconds < *due_time_) return "";
  due_time_.reset();
  try {
    write(*session);
    has_failed_ = false;
  } catch (const std::exception& e) {
    const bool is_first = !has_failed_;
    has_failed_ = true;
    if (is_first) return std::string("Autosave failed: ") + e.what();
  }
  return "";
}

std::string Autosave::save_now(const Session& session) {
  try {
    write(session);
    return "";
  } catch (const std::exception& e) {
    return std::string("The session could not be saved: ") + e.what();
  }
}

void Autosave::write(const Session& session) {
  make_folder(folder_);
  save_session(file_, session);
  if (replaced_file_.empty()) return;
  std::error_code ignored;
  std::filesystem::remove(replaced_file_, ignored);
  replaced_file_.clear();
}

void Autosave::finish() {
  std::error_code ignored;
  std::filesystem::remove(file_, ignored);
  if (!replaced_file_.empty()) std::filesystem::remove(replaced_file_, ignored);
}

}  // namespace attnscope::window
