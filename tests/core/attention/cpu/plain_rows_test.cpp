// Compares PlainRows with a reference. Some queries have scores too large for PlainRows. From the
// first of these rows on, the general pass (forward.cpp) computes the block.
#include "core/attention/cpu/plain_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>

#include "tests/core/attention/reference.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

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

// Scales some queries so that their scores reach hundreds, and sets some to zero.
void scale_some_queries(Part& part) {
  constexpr Index kLarge = 7, kZero = 5;
  constexpr float kFactor = 60;
  Tensor q = part.q.value();
  for (Index r = 0; r < q.size() / kHeadSize; ++r) {
    const float factor = r % kLarge == 0 ? kFactor : (r % kZero == 0 ? 0.0F : 1.0F);
    for (Index c = 0; c < kHeadSize; ++c) q[r * kHeadSize + c] *= factor;
  }
  part.q = q;
}

void expect_matches_reference(const Part& part, double tolerance) {
  const testing::Reference expected = testing::reference(part);
  const Index queries = part.queries(), keys = part.keys();
  for (const bool attention : {false, true}) {
    ResultRequest wanted{.output = true, .attention = attention};
    wanted.log_sum_exp = true;
    const PartResult result = cpu_backend().run(part, wanted);
    EXPECT_TRUE(
        close(result.output, to_tensor({kHeads, queries, kHeadSize}, expected.output), tolerance));
    EXPECT_TRUE(close(result.log_sum_exp, to_tensor({kHeads, queries}, expected.log_sum_exp)));
    if (!attention) continue;
    EXPECT_TRUE(
        close(result.attention, to_tensor({kHeads, queries, keys}, expected.attention), tolerance));
  }
}

class PlainRows : public ::testing::TestWithParam<Index> {};

TEST_P(PlainRows, MatchReferenceForRowsOfAllMagnitudes) {
  const Index length = GetParam();
  for (const bool causal : {false, true}) {
    Part part = plain_part(causal ? Pattern::causal(length, length) : Pattern::all(length, length));
    expect_matches_reference(part, 1e-5);
    scale_some_queries(part);
    expect_matches_reference(part, 1e-4);  // large scores have larger rounding errors
  }
}

INSTANTIATE_TEST_SUITE_P(Lengths, PlainRows, ::testing::Values(1, 63, 65, 257),
                         ::testing::PrintToStringParamName());

// If weights are requested, blocks of long rows have fewer rows.
TEST(PlainRows, MatchReferenceForLongRows) {
  Part part = plain_part(Pattern::all(70, 3000));
  expect_matches_reference(part, 1e-5);
  scale_some_queries(part);
  expect_matches_reference(part, 1e-4);
}

// Keys [i - keys_before, i + keys_after] of each query i; all keys of query `full_row`.
Pattern band(Index length, Index keys_before, Index keys_after, Index full_row = -1) {
  PatternBuilder builder(1, length, length, {"window"});
  for (Index i = 0; i < length; ++i) {
    const bool is_full = i == full_row;
    builder.add(0, is_full ? 0 : i - keys_before, is_full ? length : i + keys_after + 1);
    builder.next_row();
  }
  return builder.finish();
}

// Keys are packed per block of rows. This also holds if one row of the band attends to all keys.
TEST(PlainRows, MatchReferenceForBands) {
  expect_matches_reference(plain_part(band(700, 40, 40)), 1e-5);
  expect_matches_reference(plain_part(band(700, 0, 100)), 1e-5);
  Part part = plain_part(band(700, 40, 0, 330));
  expect_matches_reference(part, 1e-5);
  scale_some_queries(part);
  expect_matches_reference(part, 1e-4);
}

TEST(PlainRows, MatchReferenceForManyPackedWindows) {
  constexpr Index length = 2200;
  const Part part = plain_part(band(length, 60, 30));
  const Tensor expected = to_tensor({kHeads, length, kHeadSize}, testing::reference(part).output);
  EXPECT_TRUE(close(cpu_backend().run(part, {}).output, expected));
}

// Invalid inputs affect only the rows that see them.
TEST(PlainRows, PropagateNanOnlyToRowsThatSeeIt) {
  Part part = plain_part(Pattern::causal(90, 90));
  Tensor k = part.k.value();
  k(1, 70, 3) = std::numeric_limits<float>::quiet_NaN();
  part.k = k;
  ResultRequest wanted{.output = true, .attention = true};
  wanted.log_sum_exp = true;
  const PartResult result = cpu_backend().run(part, wanted);
  for (Index i = 0; i < 90; ++i) {
    EXPECT_FALSE(std::isnan(result.log_sum_exp(0, i))) << i;
    EXPECT_EQ(std::isnan(result.log_sum_exp(1, i)), i >= 70) << i;
    EXPECT_EQ(std::isnan(result.output(1, i, 0)), i >= 70) << i;
    EXPECT_EQ(std::isnan(result.attention(1, i, 0)), i >= 70) << i;
    EXPECT_FALSE(std::isnan(result.attention(0, i, 0))) << i;
  }
}

TEST(PlainRows, AssignSingleKeyWeightOne) {
  const Part part = plain_part(Pattern::all(100, 1));
  const PartResult result = cpu_backend().run(part, {.output = true, .attention = true});
  for (Index i = 0; i < result.attention.size(); ++i) ASSERT_EQ(result.attention[i], 1) << i;
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
