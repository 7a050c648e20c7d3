#include "app/window/jobs/surprise_job.h"

#include <GLFW/glfw3.h>

#include <chrono>

#include "core/base/stop_scope.h"

namespace attnscope::window {

SurpriseJob::SurpriseJob(std::shared_ptr<const Trace> trace, std::size_t most)
    : trace_(std::move(trace)) {
  thread_ = std::thread([this, most] {
    try {
      const StopScope scope(stop_);
      pairs_ = striking_pairs(*trace_, most, stop_, &progress_);
    } catch (const Stopped&) {
      cancelled_ = true;
    } catch (const std::exception& e) {
      problem_ = e.what();
    }
    {
      const std::scoped_lock lock(mutex_);
      over_ = true;
    }
    ended_.notify_all();
    glfwPostEmptyEvent();
  });
}

SurpriseJob::~SurpriseJob() {
  cancel();
  thread_.join();
}

bool SurpriseJob::wait(double seconds) const {
  std::unique_lock lock(mutex_);
  return ended_.wait_for(lock, std::chrono::duration<double>(seconds), [&] { return over(); });
}

}  // namespace attnscope::window
