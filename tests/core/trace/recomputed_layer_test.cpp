#include "core/trace/recomputed_layer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "core/base/stop.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

// Layers whose only tap is a given number. Counts their computations.
struct Layers {
  std::shared_ptr<RecentLayers> recent = std::make_shared<RecentLayers>();
  std::atomic<int> computations{0};

  std::unique_ptr<RecomputedLayer> layer(float number) {
    return std::make_unique<RecomputedLayer>(
        [this, number] {
          ++computations;
          Trace trace;
          trace.taps["number"] = Tensor::full({1}, number);
          return trace;
        },
        recent);
  }
};

float number_of(RecomputedLayer& layer) {
  return layer.taps()->taps.at("number").value()[0];
}

TEST(RecomputedLayer, KeepsOnlyRecentLayers) {
  Layers layers;
  std::vector<std::unique_ptr<RecomputedLayer>> list;
  for (std::size_t n = 0; n <= kRecentLayers; ++n) {
    list.push_back(layers.layer(static_cast<float>(n)));
    EXPECT_EQ(number_of(*list.back()), static_cast<float>(n));
    EXPECT_EQ(number_of(*list.back()), static_cast<float>(n));
  }
  const int count = static_cast<int>(list.size());
  EXPECT_EQ(layers.computations, count);
  EXPECT_EQ(number_of(*list.back()), static_cast<float>(count - 1));
  EXPECT_EQ(layers.computations, count);
  EXPECT_EQ(number_of(*list.front()), 0.0F);  // no longer in memory
  EXPECT_EQ(layers.computations, count + 1);
}

// Taps that a reader holds stay valid and are shared.
TEST(RecomputedLayer, SharesTapsThatAreHeld) {
  Layers layers;
  const auto first = layers.layer(7);
  const std::shared_ptr<const Trace> held = first->taps();
  for (std::size_t n = 0; n <= kRecentLayers; ++n) layers.layer(1)->taps();
  const int count = layers.computations;
  EXPECT_EQ(first->taps(), held);
  EXPECT_EQ(layers.computations, count);
}

TEST(RecomputedLayer, IsComputedOnceForAllThreads) {
  Layers layers;
  const auto layer = layers.layer(3);
  std::atomic<int> correct{0};
  std::vector<std::thread> threads;
  for (int n = 0; n < 8; ++n) {
    threads.emplace_back([&] { correct += number_of(*layer) == 3 ? 1 : 0; });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(correct, 8);
  EXPECT_EQ(layers.computations, 1);
}

// A cancelled product returns early with incomplete numbers, which must not be kept.
TEST(RecomputedLayer, DiscardsCancelledComputations) {
  Layers layers;
  const auto layer = layers.layer(5);
  {
    const Stop stop;
    const StopScope scope(stop);
    stop.request();
    EXPECT_THROW(layer->taps(), Stopped);
  }
  EXPECT_EQ(number_of(*layer), 5.0F);
  EXPECT_EQ(layers.computations, 2);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
