#include "app/window/jobs/salient_pair_job.h"

#include <GLFW/glfw3.h>

#include <chrono>

#include "app/window/error_text.h"
#include "core/base/stop_scope.h"

namespace attnscope::window {

SalientPairJob::SalientPairJob(std::shared_ptr<const Trace> trace, std::size_t max_pairs)
    : trace_(std::move(trace)) {
  thread_ = std::thread([this, max_pairs] {
    try {
      const StopScope scope(stop_);
      pairs_ = find_salient_pairs(*trace_, max_pairs, &progress_);
    } catch (const Stopped&) {
      cancelled_ = true;
    } catch (const std::exception& e) {
      problem_ = error_text(e);
    }
    {
      const std::scoped_lock lock(mutex_);
      finished_ = true;
    }
    ended_.notify_all();
    glfwPostEmptyEvent();
  });
}

SalientPairJob::~SalientPairJob() {
  cancel();
  thread_.join();
}

bool SalientPairJob::wait(double seconds) const {
  std::unique_lock lock(mutex_);
  return ended_.wait_for(lock, std::chrono::duration<double>(seconds),
                         [&] { return is_finished(); });
}

}  // namespace attnscope::window
