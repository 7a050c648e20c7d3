#include "core/attention/cpu/key_panels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>

#include "core/base/random.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

constexpr Index kHeads = 2, kKeys = 5000, kSize = 3;

// Local pattern with `reach` keys on either side.
Part band_part(Index reach) {
  PatternBuilder builder(1, kKeys, kKeys, {"window"});
  for (Index i = 0; i < kKeys; ++i) {
    builder.add(0, i - reach, i + reach + 1);
    builder.next_row();
  }
  Part part;
  part.heads = kHeads;
  part.q = testing::random_tensor({kHeads, kKeys, kSize}, 1);  // [h, L_q, d_k]
  part.k = testing::random_tensor({kHeads, kKeys, kSize}, 2);  // [h, L_k, d_k]
  part.v = testing::random_tensor({kHeads, kKeys, kSize}, 3);  // [h, L_k, d_v]
  part.pattern = std::make_shared<Pattern>(builder.finish());
  return part;
}

float key_number(const Part& part, Index head, Index key, Index t) {
  return key < kKeys ? part.k.value()(head, key, t) : 0;
}

void expect_panels(const Part& part, const cpu::KeyPanels& panels, Index head, Index first,
                   Index last) {
  double expected_norm = 0;
  for (Index n = first; n < last; ++n) {
    const float* panel = panels.panel(n);
    for (Index x = 0; x < cpu::panel_width; ++x) {
      double square = 0;
      for (Index t = 0; t < kSize; ++t) {
        const float expected = key_number(part, head, n * cpu::panel_width + x, t);
        ASSERT_EQ(panel[t * cpu::panel_width + x], expected) << n << ' ' << x;
        square += static_cast<double>(expected) * expected;
      }
      expected_norm = std::max(expected_norm, std::sqrt(square));
    }
  }
  EXPECT_GE(panels.max_norm(), expected_norm * (1 - 1e-6));
}

TEST(KeyPanels, PackNarrowBandsOnDemand) {
  const Part narrow_part = band_part(100), wide_part = band_part(1000);
  EXPECT_FALSE(cpu::Prepared(narrow_part, cpu::Purpose::Pass).packed_k.defined());
  EXPECT_TRUE(cpu::Prepared(narrow_part, cpu::Purpose::Tiles).packed_k.defined());
  EXPECT_TRUE(cpu::Prepared(narrow_part, cpu::Purpose::Gradients).packed_k.defined());
  EXPECT_TRUE(cpu::Prepared(wide_part, cpu::Purpose::Pass).packed_k.defined());
}

TEST(KeyPanels, LoadPanelsInAnyOrder) {
  const Part part = band_part(100);
  const cpu::Prepared prepared(part, cpu::Purpose::Pass);
  cpu::KeyPanels panels(prepared);
  constexpr Index panel_count = (kKeys + cpu::panel_width - 1) / cpu::panel_width;
  const auto load_and_check = [&](Index head, Index first, Index last) {
    ASSERT_TRUE(panels.load(head, first, last));
    ASSERT_NO_FATAL_FAILURE(expect_panels(part, panels, head, first, last));
  };
  for (Index first = panel_count - 5; first >= 0; first -= 2) load_and_check(0, first, first + 5);
  for (Index first = 0; first + 5 <= panel_count; first += 2) load_and_check(1, first, first + 5);
  Random random(4);
  for (int n = 0; n < 300; ++n) {
    const auto below = [&](Index count) {
      return static_cast<Index>(random.below(static_cast<std::uint64_t>(count)));
    };
    const Index count = 1 + below(64), first = below(panel_count - count + 1);
    load_and_check(below(kHeads), first, first + count);
  }
  EXPECT_TRUE(panels.load(0, 7, 7));
  EXPECT_EQ(panels.max_norm(), 0);
  EXPECT_FALSE(panels.load(0, 0, 65));
  load_and_check(1, 3, 9);  // a failed load has no effect
}

TEST(KeyPanels, TreatNanAsInfiniteNorm) {
  Part part = band_part(100);
  Tensor k = part.k.value();
  k(0, 40, 1) = std::numeric_limits<float>::quiet_NaN();
  part.k = k;
  const cpu::Prepared prepared(part, cpu::Purpose::Pass);
  cpu::KeyPanels panels(prepared);
  ASSERT_TRUE(panels.load(0, 0, 3));
  EXPECT_EQ(panels.max_norm(), std::numeric_limits<float>::infinity());
  ASSERT_TRUE(panels.load(0, 2, 4));
  EXPECT_LT(panels.max_norm(), 10);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
