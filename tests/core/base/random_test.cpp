#include "core/base/random.h"

#include <gtest/gtest.h>

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(Random, RepeatsAndResumes) {
  Random a(7);
  a.bits();
  Random b(a.state());
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a.bits(), b.bits());
  EXPECT_NE(derived_seed(1, 0), derived_seed(1, 1));
  EXPECT_NE(derived_seed(1, 0), derived_seed(2, 0));
}

TEST(Random, JumpsToAnyPosition) {
  Random a(7);
  for (std::uint64_t i = 0; i < 100; ++i) EXPECT_EQ(Random::at(7, i), a.bits());
}

TEST(Random, HasStandardMoments) {
  Random random(1);
  constexpr int kCount = 100000;
  double sum = 0, squares = 0, uniform = 0;
  for (int i = 0; i < kCount; ++i) {
    const double x = random.normal();
    sum += x;
    squares += x * x;
    const double u = random.uniform();
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    uniform += u;
    ASSERT_LT(random.below(5), 5u);
  }
  EXPECT_NEAR(sum / kCount, 0, 0.015);
  EXPECT_NEAR(squares / kCount, 1, 0.02);
  EXPECT_NEAR(uniform / kCount, 0.5, 0.005);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
