// A large file being read on a thread of its own.
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
  ~OpenJob();  // waits: a library that reads does not stop half-way
  OpenJob(const OpenJob&) = delete;
  OpenJob& operator=(const OpenJob&) = delete;

  const std::filesystem::path& path() const { return path_; }
  bool over() const { return over_; }
  // Nobody wants it any more.
  void drop() { dropped_ = true; }
  bool dropped() const { return dropped_; }
  // Once it is over: what went wrong, else what was read.
  const std::string& problem() const { return problem_; }
  const ReadFile& file() const { return file_; }

 private:
  std::filesystem::path path_;
  std::atomic<bool> over_{false}, dropped_{false};
  std::string problem_;
  ReadFile file_;
  std::thread thread_;
};

}  // namespace attnscope::window
