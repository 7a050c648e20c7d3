#include "app/gpu/provider.h"

#include <mutex>

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
    if (!has_tried_) {
      has_tried_ = true;
      try {
        auto gpu = std::make_unique<ComputeBackend>(make_context_());
        gpu->use_shared_memory(cached_shared_memory_ratio(*gpu, calibrations_) < 1);
        gpu_ = std::move(gpu);
      } catch (const WorkError& e) {
        reason_ = e.what();
      }
    }
    if (choice == BackendChoice::Gpu) return {gpu_.get(), reason_};
    if (!gpu_) return {&cpu_backend(), reason_};
    return offer_faster();
  }

 private:
  BackendOffer offer_faster() {
    try {
      if (!time_ratio_) {
        time_ratio_ = cached_time_ratio(*gpu_, cpu_backend(), calibrations_);
      }
    } catch (const WorkError& e) {  // there is a GPU, but it does not work
      return {&cpu_backend(), e.what()};
    }
    if (*time_ratio_ >= 1) return {&cpu_backend(), ""};
    return {gpu_.get(), ""};
  }

  std::mutex mutex_;
  ContextMaker make_context_;
  std::optional<std::filesystem::path> calibrations_;
  Stop stop_;
  bool has_tried_ = false;
  std::string reason_;  // why gpu_ is null
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
