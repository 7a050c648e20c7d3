// The pass for plain attention beside the general one: rows on either side of the bound up to which
// exponentials need no maximum, mixed in one block.
#include "core/attention/cpu/plain_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "tests/core/attention/reference.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace {

using testing::close;
using testing::random_tensor;
using testing::to_tensor;

constexpr Index kHeads = 2, kHeadSize = 17;

Part plain_part(Pattern pattern) {
  Part part;
  part.heads = kHeads;
  part.scale = 1 / std::sqrt(static_cast<float>(kHeadSize));
  part.q = random_tensor({kHeads, pattern.queries(), kHeadSize}, 1);  // [h, L_q, d_k]
  part.k = random_tensor({kHeads, pattern.keys(), kHeadSize}, 2);     // [h, L_k, d_k]
  part.v = random_tensor({kHeads, pattern.keys(), kHeadSize}, 3);     // [h, L_k, d_v]
  part.pattern = std::make_shared<Pattern>(std::move(pattern));
  return part;
}

// Scales some queries so far that their scores may be hundreds, and makes some nothing at all.
void mix_sizes(Part& part) {
  constexpr Index kLarge = 7, kZero = 5;
  constexpr float kFactor = 60;
  Tensor q = part.q.value();
  for (Index r = 0; r < q.size() / kHeadSize; ++r) {
    const float factor = r % kLarge == 0 ? kFactor : (r % kZero == 0 ? 0.0F : 1.0F);
    for (Index c = 0; c < kHeadSize; ++c) q[r * kHeadSize + c] *= factor;
  }
  part.q = q;
}

void expect_the_equation(const Part& part, double tolerance) {
  const testing::Reference expected = testing::reference(part);
  const Index queries = part.queries(), keys = part.keys();
  for (const bool attention : {false, true}) {
    Wanted wanted{.output = true, .attention = attention};
    wanted.log_sum_exp = true;
    const PartResult got = cpu_backend().run(part, wanted, {});
    EXPECT_TRUE(
        close(got.output, to_tensor({kHeads, queries, kHeadSize}, expected.output), tolerance));
    EXPECT_TRUE(close(got.log_sum_exp, to_tensor({kHeads, queries}, expected.log_sum_exp)));
    if (!attention) continue;
    EXPECT_TRUE(
        close(got.attention, to_tensor({kHeads, queries, keys}, expected.attention), tolerance));
  }
}

class PlainRows : public ::testing::TestWithParam<Index> {};

TEST_P(PlainRows, RowsOfAllSizesInOneBlock) {
  const Index length = GetParam();
  for (const bool causal : {false, true}) {
    Part part = plain_part(causal ? Pattern::causal(length, length) : Pattern::all(length, length));
    expect_the_equation(part, 1e-5);
    mix_sizes(part);
    expect_the_equation(part, 1e-4);  // a score of hundreds has that much less of a fraction
  }
}

INSTANTIATE_TEST_SUITE_P(Lengths, PlainRows, ::testing::Values(1, 63, 65, 257),
                         ::testing::PrintToStringParamName());

TEST(PlainRows, OneKeyHasTheWholeWeight) {
  const Part part = plain_part(Pattern::all(100, 1));
  const PartResult got = cpu_backend().run(part, {.output = true, .attention = true}, {});
  for (Index i = 0; i < got.attention.size(); ++i) ASSERT_EQ(got.attention[i], 1) << i;
}

}  // namespace
}  // namespace attnscope
