#include "app/gpu/provider.h"

#include <mutex>
#include <utility>

#include "app/gpu/compute_backend.h"
#include "core/base/error.h"

namespace attnscope {
namespace {

class GpuBackends {
 public:
  GpuBackends(ContextMaker make_context, std::optional<std::filesystem::path> calibrations,
              Stop stop)
      : make_context_(std::move(make_context)),
        calibrations_(std::move(calibrations)),
        stop_(std::move(stop)) {}

  BackendOffer offer(BackendChoice choice) {
    if (choice == BackendChoice::Cpu) return {&cpu_backend(), ""};
    const StopScope scope(stop_);  // a calibration continues if the requesting run stops
    const std::lock_guard lock(mutex_);
    make_gpu();
    try {
      if (choice == BackendChoice::Auto && reason_.empty() && !is_gpu_faster()) {
        return {&cpu_backend(), ""};
      }
      if (reason_.empty() && !is_calibrated_) calibrate_shaders();
    } catch (const WorkError& e) {  // there is a GPU, but it does not work
      reason_ = e.what();
    }
    if (reason_.empty()) return {gpu_.get(), ""};
    return {choice == BackendChoice::Auto ? &cpu_backend() : nullptr, reason_};
  }

 private:
  void make_gpu() {
    if (std::exchange(has_tried_, true)) return;
    try {
      gpu_ = std::make_unique<ComputeBackend>(make_context_());
    } catch (const WorkError& e) {
      reason_ = e.what();
    }
  }

  void calibrate_shaders() {
    gpu_->use_shared_memory(cached_shared_memory_ratio(*gpu_, calibrations_) < 1);
    is_calibrated_ = true;
  }

  // Software OpenGL runs on the CPU and needs seconds to compile shaders, so it is never measured:
  // it is faster only if the file contains a ratio below 1.
  bool is_gpu_faster() {
    if (!time_ratio_) time_ratio_ = stored_time_ratio(*gpu_, cpu_backend(), calibrations_);
    if (!time_ratio_ && gpu_->is_software()) return false;
    if (!time_ratio_) {
      calibrate_shaders();
      time_ratio_ = cached_time_ratio(*gpu_, cpu_backend(), calibrations_);
    }
    return *time_ratio_ < 1;
  }

  std::mutex mutex_;
  ContextMaker make_context_;
  std::optional<std::filesystem::path> calibrations_;
  Stop stop_;
  bool has_tried_ = false;
  bool is_calibrated_ = false;  // the kind of shaders has been selected
  std::string reason_;          // why there is no working GPU; empty: gpu_ is not null
  std::unique_ptr<ComputeBackend> gpu_;
  std::optional<double> time_ratio_;  // GPU / CPU
};

}  // namespace

BackendProvider gpu_backends(ContextMaker make_context,
                             std::optional<std::filesystem::path> calibrations, Stop stop) {
  return [backends = std::make_shared<GpuBackends>(std::move(make_context), std::move(calibrations),
                                                   std::move(stop))](BackendChoice choice) {
    return backends->offer(choice);
  };
}

BackendProvider headless_backends() {
  return gpu_backends([] { return make_headless_context(); });
}

}  // namespace attnscope
