// A moving picture being written on a thread of its own.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>

#include "core/experiment/trace.h"
#include "core/view/frames.h"

namespace attnscope::window {

class FramesJob {
 public:
  FramesJob(std::filesystem::path path, std::shared_ptr<const Trace> trace, Experiment experiment,
            PictureOptions picture, FrameOptions frames, std::shared_ptr<const Trace> reference);
  ~FramesJob();  // cancels and waits
  FramesJob(const FramesJob&) = delete;
  FramesJob& operator=(const FramesJob&) = delete;

  double share() const { return share_; }  // that is done
  bool over() const { return over_; }
  void cancel() { stop_.request(); }
  // Once it is over: what went wrong; empty when all is written or it was cancelled.
  const std::string& problem() const { return problem_; }
  bool cancelled() const { return stop_.requested(); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  Stop stop_;
  std::atomic<double> share_{0};
  std::atomic<bool> over_{false};
  std::string problem_;
  std::thread thread_;
};

}  // namespace attnscope::window
