#include "app/gpu/fallback_backend.h"

#include "core/base/error.h"

namespace attnscope {

std::string FallbackBackend::name() const {
  const std::lock_guard lock(mutex_);
  if (fallen_back_ == 0) return first_.name();
  std::string name = second_.name();
  if (fallen_back_ < runs_) {
    name += " for " + std::to_string(fallen_back_) + " of " + std::to_string(runs_) + " operations";
  }
  name += " (" + reason_ + ")";
  return fallen_back_ < runs_ ? name + ", else " + first_.name() : name;
}

std::string FallbackBackend::refusal(const Part& part, const Wanted& wanted) const {
  return first_.refusal(part, wanted).empty() ? std::string() : second_.refusal(part, wanted);
}

PartResult FallbackBackend::run(const Part& part, const Wanted& wanted, const Stop& stop) {
  std::string reason = first_.refusal(part, wanted);
  if (reason.empty()) {
    try {
      PartResult result = first_.run(part, wanted, stop);
      const std::lock_guard lock(mutex_);
      ++runs_;
      return result;
    } catch (const WorkError& e) {
      reason = e.what();
    }
  }
  Wanted on_host = wanted;  // what was to stay on the device is wanted all the same
  on_host.attention = wanted.attention || wanted.device_attention;
  PartResult result = second_.run(part, on_host, stop);
  const std::lock_guard lock(mutex_);
  ++runs_;
  ++fallen_back_;
  reason_ = reason;
  return result;
}

void FallbackBackend::begin() {
  const std::lock_guard lock(mutex_);
  runs_ = fallen_back_ = 0;
  reason_.clear();
}

}  // namespace attnscope
