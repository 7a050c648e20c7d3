// The measures on attention small enough to work out by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/lesson/claim.h"

namespace attnscope {
namespace {

using Ids = std::vector<std::int32_t>;

// One layer of one head over these tokens.
std::shared_ptr<const Trace> trace_of(const Ids& ids, const std::vector<float>& weights) {
  auto trace = std::make_shared<Trace>();
  const Index length = static_cast<Index>(ids.size());
  trace->config.width = 8;
  for (const std::int32_t id : ids) {
    TraceToken token;
    token.id = id;
    trace->tokens.push_back(token);
  }
  AttentionTap tap;
  tap.heads = {0};
  tap.variant = default_variant();
  tap.encoding = {"sinusoidal", default_values(encoding("sinusoidal").parameters)};
  tap.result.attention = Tensor({1, length, length});
  std::ranges::copy(weights, tap.result.attention.begin());
  tap.result.pattern = std::make_shared<const Pattern>(Pattern::causal(length, length));
  trace->attention.push_back(tap);
  return trace;
}

const std::vector<float> kWeights = {1, 0, 0, 0.25F, 0.75F, 0, 0.5F, 0.125F, 0.375F};

double measured(const std::string& id, const Traces& traces, Index query = -1, Index key = -1) {
  Claim claim;
  claim.measure = id;
  claim.query = query;
  claim.key = key;
  claim.least = 0;
  return check(claim, traces).value;
}

TEST(Measures, OfOneMap) {
  const Traces one{trace_of({5, 6, 5}, kWeights), nullptr};
  EXPECT_NEAR(measured("row_sum_error", one), 0, 1e-7);
  EXPECT_EQ(measured("weight", one, 2, 1), 0.125);
  EXPECT_EQ(measured("strongest_key", one, 2), 0);
  EXPECT_EQ(measured("later_weight", one), 0);
  EXPECT_EQ(measured("farthest", one), 2);
  EXPECT_NEAR(measured("previous_token", one), (0.25 + 0.125) / 2, 1e-7);
  EXPECT_NEAR(measured("distance", one), (0 + 0.25 + 1 + 0.125) / 3, 1e-7);
  EXPECT_NEAR(measured("same_token", one), 0.5, 1e-7);
  EXPECT_NEAR(measured("induction", one), 0.125, 1e-7);
  EXPECT_NEAR(measured("density", one), 6.0 / 9, 1e-12);
  EXPECT_EQ(measured("keys_of_query", one, 1), 2);
  EXPECT_EQ(measured("layers_to_reach", one, 2, 0), 1);
  EXPECT_EQ(measured("layers_to_reach", one, 0, 2), INFINITY);
}

TEST(Measures, OfTwoMaps) {
  std::vector<float> other = kWeights;
  other[3] = 0.5F;
  other[4] = 0.5F;
  const Traces two{trace_of({5, 6, 7}, kWeights), trace_of({5, 6, 7}, other)};
  EXPECT_NEAR(measured("difference", two), 0.25, 1e-7);
  EXPECT_NEAR(measured("weight_change", two, 1, 0), -0.25, 1e-7);
  EXPECT_NEAR(measured("distance_change", two), -0.25 / 3, 1e-7);
  EXPECT_NEAR(measured("difference_by_token", two), 0.25, 1e-7);
}

TEST(Measures, FollowTokensToTheirOtherPlaces) {
  // The same weights between the same tokens, in reverse order.
  std::vector<float> turned(kWeights.rbegin(), kWeights.rend());
  const Traces two{trace_of({5, 6, 7}, kWeights), trace_of({7, 6, 5}, turned)};
  EXPECT_EQ(measured("difference_by_token", two), 0);
  EXPECT_GT(measured("difference", two), 0.1);
  const Traces twice{trace_of({5, 6, 5}, kWeights), trace_of({5, 6, 5}, kWeights)};
  EXPECT_THROW(measured("difference_by_token", twice), InputError);
}

TEST(Measures, OfSinusoids) {
  const Traces one{trace_of({5, 6, 7}, kWeights), nullptr};
  EXPECT_NEAR(measured("position_similarity", one, 1, 1), 0.5, 1e-6);
  EXPECT_NEAR(measured("similarity_spread", one), 0, 1e-6);
  double expected = 0;  // the mean of cos(ω) over the frequencies, and as many zeros
  for (int t = 0; t < 4; ++t) expected += std::cos(std::pow(10000.0, -2.0 * t / 8)) / 8;
  EXPECT_NEAR(measured("position_similarity", one, 1, 2), expected, 1e-6);
}

TEST(Measures, RefuseWhatIsNotThere) {
  const Traces one{trace_of({5, 6, 5}, kWeights), nullptr};
  EXPECT_THROW(measured("weight", one, 3, 0), InputError);
  EXPECT_THROW(measured("difference", one), InputError);  // from what?
  EXPECT_THROW(measured("entropy_change", one), InputError);
  EXPECT_THROW(measured("weight", one, 0, 3), InputError);
  Claim claim;
  claim.measure = "entropy";
  claim.head = 1;
  claim.most = 1;
  EXPECT_THROW(check(claim, one), InputError);
  // What is no number holds nothing.
  claim.head = 0;
  claim.measure = "induction";
  EXPECT_FALSE(check(claim, {trace_of({5, 6, 7}, kWeights), nullptr}).holds);
}

}  // namespace
}  // namespace attnscope
