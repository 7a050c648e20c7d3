// A file being written on a thread of its own.
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
  // Writes the file; tells how much is done, 0..1. Throws Stopped after a request to stop.
  using Write = std::function<void(const std::function<void(double)>& progress, const Stop& stop)>;

  ExportJob(std::filesystem::path path, Write write);
  ~ExportJob();  // cancels and waits
  ExportJob(const ExportJob&) = delete;
  ExportJob& operator=(const ExportJob&) = delete;

  double share() const { return share_; }  // that is done
  bool over() const { return over_; }
  void cancel() { stop_.request(); }
  // Once it is over: what went wrong; empty when all is written or it was cancelled.
  const std::string& problem() const { return problem_; }
  bool cancelled() const { return cancelled_; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  Stop stop_;
  std::atomic<double> share_{0};
  std::atomic<bool> over_{false};
  bool cancelled_ = false;
  std::string problem_;
  std::thread thread_;
};

}  // namespace attnscope::window
