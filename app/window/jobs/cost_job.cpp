#include "app/window/jobs/cost_job.h"

#include <GLFW/glfw3.h>

#include <utility>

#include "app/window/error_text.h"
#include "core/base/stop_scope.h"

namespace attnscope::window {

CostJob::CostJob(CostRequest request) {
  thread_ = std::thread([this, request = std::move(request)] {
    const auto take = [this](CostCurves curves) {
      const std::scoped_lock lock(mutex_);
      curves_ = std::move(curves);
      ++version_;
    };
    try {
      const auto progress = [&](const CostCurves& so_far, double share) {
        take(so_far);
        share_ = share;
        glfwPostEmptyEvent();
      };
      const StopScope scope(stop_);
      take(cost_curves(request, progress));
    } catch (const std::exception& e) {
      problem_ = error_text(e);
    }
    finished_ = true;
    glfwPostEmptyEvent();
  });
}

CostJob::~CostJob() {
  cancel();
  thread_.join();
}

CostCurves CostJob::curves() const {
  const std::scoped_lock lock(mutex_);
  return curves_;
}

}  // namespace attnscope::window
