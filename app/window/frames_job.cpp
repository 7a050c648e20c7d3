#include "app/window/frames_job.h"

namespace attnscope::window {

FramesJob::FramesJob(std::filesystem::path path, std::shared_ptr<const Trace> trace,
                     Experiment experiment, PictureOptions picture, FrameOptions frames,
                     std::shared_ptr<const Trace> reference)
    : path_(std::move(path)) {
  thread_ = std::thread([this, trace = std::move(trace), experiment = std::move(experiment),
                         picture, frames = std::move(frames), reference = std::move(reference)] {
    try {
      write_frames(
          path_, *trace, experiment, picture, frames, reference.get(),
          [this](double share) { share_ = share; }, stop_);
    } catch (const Stopped&) {
      stop_.request();
    } catch (const std::exception& e) {
      problem_ = e.what();
    }
    over_ = true;
  });
}

FramesJob::~FramesJob() {
  cancel();
  thread_.join();
}

}  // namespace attnscope::window
