#include "core/analysis/prediction.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

TEST(Prediction, BitsMatchTheSoftmax) {
  const Tensor logits = testing::random_tensor({4, 7}, 3, 4);
  const std::vector<std::int32_t> ids{2, 0, 6, 6};
  const Tensor bits = token_bits(logits, ids);
  EXPECT_TRUE(std::isnan(bits[0]));
  for (Index i = 1; i < 4; ++i) {
    double sum = 0;
    for (Index v = 0; v < 7; ++v) sum += std::exp(static_cast<double>(logits(i - 1, v)));
    const auto target_logit = static_cast<double>(logits(i - 1, ids[static_cast<std::size_t>(i)]));
    EXPECT_NEAR(static_cast<double>(bits[i]), -std::log2(std::exp(target_logit) / sum), 1e-5) << i;
  }
}

TEST(Prediction, LargeLogitsStayFinite) {
  const Tensor logits = Tensor::from({2, 2}, {1e4f, -1e4f, 0, 0});
  const Tensor bits = token_bits(logits, {0, 1});
  EXPECT_NEAR(static_cast<double>(bits[1]) / (2e4 / std::log(2.0)), 1, 1e-6);
}

TEST(Prediction, AveragesPredictedTokens) {
  Trace trace;
  trace.tokens.resize(3);
  for (TraceToken& token : trace.tokens) token.bytes = "ab";
  EXPECT_FALSE(prediction(trace).has_value());
  trace.token_bits = Tensor::from({3}, {NAN, 2, 4});
  const auto p = prediction(trace);
  ASSERT_TRUE(p.has_value());
  EXPECT_EQ(p->tokens, 2);
  EXPECT_DOUBLE_EQ(p->bits_per_token, 3);
  EXPECT_DOUBLE_EQ(p->perplexity, 8);
  EXPECT_DOUBLE_EQ(p->bits_per_byte, 1.5);
  EXPECT_FALSE(p->leaks_targets);
  trace.token_bits = Tensor::from({1}, {NAN});
  EXPECT_FALSE(prediction(trace).has_value());
}

TEST(Prediction, DetectsNonCausalAttention) {
  Trace trace;
  trace.tokens.resize(2);
  trace.token_bits = Tensor::from({2}, {NAN, 2});
  const auto leaks_targets_with = [&](const Address& address, bool causal) {
    trace.attention.assign(2, AttentionTap());
    trace.attention[0].causal = true;
    trace.attention[1].address = address;
    trace.attention[1].causal = causal;
    return prediction(trace)->leaks_targets;
  };
  EXPECT_FALSE(leaks_targets_with({}, true));
  EXPECT_TRUE(leaks_targets_with({}, false));
  // Attention to another text may be non-causal.
  EXPECT_FALSE(leaks_targets_with({.stack = Stack::Encoder}, false));
  EXPECT_FALSE(leaks_targets_with({.kind = AttentionKind::Cross}, false));
  // A causal pattern whose weights depend on later tokens.
  EXPECT_FALSE(leaks_targets_with({}, true));
  trace.attention[1].result.leaks_future = "clusters are made of all tokens";
  EXPECT_TRUE(prediction(trace)->leaks_targets);
}

// Vocabularies of any size relative to the number of partial sums.
TEST(Prediction, BitsMatchForAnyVocabulary) {
  for (const Index vocabulary : {1, 2, 15, 16, 17, 32, 40, 1000}) {
    const Tensor logits = testing::random_tensor({70, vocabulary}, 3, 4);
    std::vector<std::int32_t> ids;
    for (Index i = 0; i < 70; ++i) ids.push_back(static_cast<std::int32_t>(i * 7 % vocabulary));
    const Tensor bits = token_bits(logits, ids);
    ASSERT_EQ(bits.shape(), (Shape{70}));
    EXPECT_TRUE(std::isnan(bits[0]));
    for (Index i = 1; i < 70; ++i) {
      double sum = 0;
      for (Index v = 0; v < vocabulary; ++v) sum += std::exp(static_cast<double>(logits(i - 1, v)));
      const auto target_logit =
          static_cast<double>(logits(i - 1, ids[static_cast<std::size_t>(i)]));
      EXPECT_NEAR(static_cast<double>(bits[i]), (std::log(sum) - target_logit) / std::log(2.0),
                  1e-4)
          << vocabulary << " " << i;
    }
  }
  EXPECT_EQ(token_bits(Tensor::zeros({1, 3}), {1}).size(), 1);
  EXPECT_EQ(token_bits(Tensor::zeros({0, 3}), {}).size(), 0);
}

// Counts the bytes of predicted tokens, which exclude the first.
TEST(Prediction, CountsBytesOfPredictedTokens) {
  Trace trace;
  trace.tokens.resize(4);
  trace.tokens[0].bytes = "never predicted";
  trace.tokens[1].bytes = "a";
  trace.tokens[2].bytes = "bcde";
  trace.tokens[3].bytes = "fg";
  trace.token_bits = Tensor::from({4}, {NAN, 2, 4, 8});
  EXPECT_DOUBLE_EQ(prediction(trace)->bits_per_byte, 2);
  EXPECT_EQ(prediction(trace)->tokens, 3);
  for (TraceToken& token : trace.tokens) token.bytes.clear();
  EXPECT_TRUE(std::isnan(prediction(trace)->bits_per_byte));
  trace.logits = Tensor::zeros({4, 2});
  EXPECT_EQ(predictions(trace).value().data(), trace.logits.value().data());
  trace.taps["log_probabilities"] = Tensor::zeros({4, 2});
  EXPECT_EQ(predictions(trace).value().data(), trace.taps.at("log_probabilities").value().data());
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
