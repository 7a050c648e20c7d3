#include "core/trace/recomputed_layer.h"

#include "core/base/stop.h"

namespace attnscope {

void RecentLayers::add(std::shared_ptr<const Trace> taps) {
  const std::scoped_lock lock(mutex_);
  taps_.push_back(std::move(taps));
  if (taps_.size() > kRecentLayers) taps_.pop_front();
}

std::shared_ptr<const Trace> RecomputedLayer::taps() {
  const std::scoped_lock lock(mutex_);
  if (std::shared_ptr<const Trace> taps = taps_.lock()) return taps;
  auto taps = std::make_shared<const Trace>(compute_());
  check_stop();  // a cancelled product returns early
  taps_ = taps;
  recent_->add(taps);
  return taps;
}

}  // namespace attnscope
