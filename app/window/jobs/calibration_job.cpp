#include "app/window/jobs/calibration_job.h"

#include <GLFW/glfw3.h>

#include <utility>

#include "app/window/error_text.h"
#include "core/base/file.h"
#include "core/base/stop_scope.h"
#include "core/checkpoint/model_store.h"

namespace attnscope::window {

CalibrationJob::CalibrationJob(CalibrationTask task) {
  thread_ = std::thread([this, task = std::move(task)] {
    try {
      const StopScope scope(stop_);
      run(task);
    } catch (const Stopped&) {
      problem_.clear();
    } catch (const std::exception& e) {
      problem_ = error_text(e);
    }
    finished_ = true;
    glfwPostEmptyEvent();
  });
}

CalibrationJob::~CalibrationJob() {
  cancel();
  thread_.join();
}

void CalibrationJob::run(const CalibrationTask& task) {
  Checkpoint checkpoint = *model_store()->checkpoint(task.model);
  checkpoint.model = with_structure(checkpoint.model, task.structure);
  CalibrationRequest request = task.request;
  request.method = task.method.value_or(default_method(checkpoint.model.config));
  const std::string text = task.text.empty() ? task.own_text : read_file(task.text);
  const std::string other = task.other.empty() ? "" : read_file(task.other);
  const auto take = [this](Calibration found, double share) {
    const std::scoped_lock lock(mutex_);
    calibration_ = std::move(found);
    share_ = share;
    ++version_;
  };
  take(calibrate(checkpoint, text, other, request,
                 [&](const Calibration& so_far, double share) {
                   take(so_far, share);
                   glfwPostEmptyEvent();
                 }),
       1);
}

Calibration CalibrationJob::calibration() const {
  const std::scoped_lock lock(mutex_);
  return calibration_;
}

}  // namespace attnscope::window
