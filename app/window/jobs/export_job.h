// Export of a file on its own thread.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>

#include "core/base/stop.h"

namespace attnscope::window {

class ExportJob {
 public:
  // Writes the file and reports progress, 0..1. Throws Stopped after a request to stop.
  using Write = std::function<void(const std::function<void(double)>& progress)>;

  ExportJob(std::filesystem::path path, Write write);
  ~ExportJob();  // cancels and joins
  ExportJob(const ExportJob&) = delete;
  ExportJob& operator=(const ExportJob&) = delete;

  double share() const { return share_; }  // completed, 0..1
  bool is_finished() const { return finished_; }
  void cancel() { stop_.request(); }
  // After the end: the error; empty: success or cancelled.
  const std::string& problem() const { return problem_; }
  bool was_cancelled() const { return cancelled_; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  Stop stop_;
  std::atomic<double> share_{0};
  std::atomic<bool> finished_{false};
  bool cancelled_ = false;
  std::string problem_;
  std::thread thread_;
};

}  // namespace attnscope::window
