#include "app/gpu/compute_backend.h"

#include <algorithm>
#include <chrono>
#include <string_view>

#include "app/gpu/compute_device.h"
#include "app/gpu/gl_tiles.h"
#include "app/gpu/part_run.h"
#include "app/gpu/part_upload.h"
#include "core/base/error.h"
#include "core/base/stop.h"

namespace attnscope {
namespace {

constexpr std::chrono::milliseconds kPoll{5};  // interval of cancellation checks

}  // namespace

ComputeBackend::ComputeBackend(std::unique_ptr<GlContext> context)
    : thread_(std::make_shared<GlThread>(std::move(context))) {
  thread_->run([this] {
    device_ = {new ComputeDevice(*thread_), [thread = thread_](ComputeDevice* device) {
                 thread->post([device] { delete device; });
               }};
  });
}

ComputeBackend::~ComputeBackend() {
  thread_->run([] {});  // waits for work whose caller was cancelled
}

std::string ComputeBackend::name() const {
  return thread_->description();
}

bool ComputeBackend::is_software() const {
  const std::string description = name();
  const auto names = {"llvmpipe", "softpipe", "swrast", "SwiftShader"};
  return std::ranges::any_of(names, [&](std::string_view renderer) {
    return description.find(renderer) != std::string::npos;
  });
}

std::string ComputeBackend::refusal(const Part& part, const ResultRequest& wanted) const {
  std::string reason = upload_refusal(part, device_->limits.buffer_bytes);
  if (reason.empty() && wanted.device_attention) {
    const Index heads = part.batch * part.heads;
    bool fits = false;
    try {
      thread_->run_urgent(
          [&] { fits = texture_fits(device_->limits, heads, part.queries(), part.keys()); });
    } catch (const WorkError& e) {
      return e.what();
    }
    if (!fits) {
      reason = "GPU: attention weights of shape " +
               to_string(Shape{heads, part.queries(), part.keys()}) +
               ": expected a texture of at most " + std::to_string(device_->limits.texture_size) +
               " x " + std::to_string(device_->limits.texture_size) + " x " +
               std::to_string(device_->limits.texture_layers) + " that fits in memory";
    }
  }
  return reason;
}

PartResult ComputeBackend::run(const Part& part, const ResultRequest& wanted) {
  check_stop();
  if (const std::string reason = refusal(part, wanted); !reason.empty()) throw WorkError(reason);
  // The job owns copies of its input, since it can outlive a cancelled caller: a running dispatch
  // or shader compilation cannot be interrupted.
  struct Job {
    Part part;
    ResultRequest wanted;
    Stop stop;
    PartResult result;
  };
  const auto job = std::make_shared<Job>(Job{part, wanted, current_stop(), {}});
  job->wanted.log_sum_exp |= wanted.tiles;
  std::future<void> completion = thread_->start([this, job] {
    const StopScope scope(job->stop);
    job->result = run_part(*device_, thread_, job->part, job->wanted);
    if (!job->wanted.tiles) return;
    job->result.tiles = gl_tiles(thread_, device_, job->part, job->result.log_sum_exp);
  });
  while (completion.wait_for(kPoll) != std::future_status::ready) check_stop();
  completion.get();
  return std::move(job->result);
}

void ComputeBackend::use_shared_memory(bool shared) {
  device_->shared_memory = shared;
}

std::int64_t ComputeBackend::dispatch_count() const {
  return device_->dispatches;
}

void ComputeBackend::set_max_scores(std::int64_t scores) {
  device_->max_scores = scores;
}

}  // namespace attnscope
