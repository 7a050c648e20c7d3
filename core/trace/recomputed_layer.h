// Taps of a layer that are computed again when they are read.
//
// The trace of a large model keeps the states between its layers and the attention maps. Queries,
// keys, values and outputs of the blocks follow from a layer's input: running the layer again gives
// the same numbers, since its computation does not depend on time or threads.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "core/trace/trace.h"

namespace attnscope {

// Most recently recomputed layers of a trace, which stay in memory.
class RecentLayers {
 public:
  void add(std::shared_ptr<const Trace> taps);

 private:
  std::mutex mutex_;
  std::deque<std::shared_ptr<const Trace>> taps_;
};

// Number of layers in RecentLayers.
inline constexpr std::size_t kRecentLayers = 2;

// Thread-safe.
class RecomputedLayer {
 public:
  // compute: runs the layer and returns its taps; they need no attention maps.
  RecomputedLayer(std::function<Trace()> compute, std::shared_ptr<RecentLayers> recent)
      : compute_(std::move(compute)), recent_(std::move(recent)) {}

  // Throws Stopped if the computation is cancelled.
  std::shared_ptr<const Trace> taps();

 private:
  std::mutex mutex_;
  std::function<Trace()> compute_;
  std::shared_ptr<RecentLayers> recent_;
  std::weak_ptr<const Trace> taps_;
};

}  // namespace attnscope
