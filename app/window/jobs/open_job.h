// Reading of a large file on its own thread.
#pragma once

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>

#include "app/window/files.h"

namespace attnscope::window {

class OpenJob {
 public:
  explicit OpenJob(std::filesystem::path path);
  ~OpenJob();  // joins: a library's reading cannot be interrupted
  OpenJob(const OpenJob&) = delete;
  OpenJob& operator=(const OpenJob&) = delete;

  const std::filesystem::path& path() const { return path_; }
  bool is_finished() const { return finished_; }
  // Marks the file as superseded.
  void discard() { discarded_ = true; }
  bool is_discarded() const { return discarded_; }
  // After the end: the error, or the file.
  const std::string& problem() const { return problem_; }
  const ReadFile& file() const { return file_; }

 private:
  std::filesystem::path path_;
  std::atomic<bool> finished_{false}, discarded_{false};
  std::string problem_;
  ReadFile file_;
  std::thread thread_;
};

}  // namespace attnscope::window
