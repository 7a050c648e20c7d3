// Compares sentence statistics with sums from their definitions.
#include "core/analysis/sentences.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

// Eight tokens; the last three belong to the second sentence.
Trace two_sentences() {
  Trace trace = testing::synthetic_trace(Pattern::all(8, 8));
  for (std::size_t n = 5; n < 8; ++n) trace.tokens[n].sentence = 1;
  Tensor states({8, 3});
  for (Index n = 0; n < states.size(); ++n)
    states[n] = static_cast<float>(std::sin(static_cast<double>(n) + 1));
  trace.taps["layers.0.residual"] = Tensor::zeros({8, 3});
  trace.taps["layers.1.residual"] = states;
  return trace;
}

TEST(Sentences, ComputesBlockWeights) {
  const Trace trace = two_sentences();
  const AttentionTap& tap = trace.attention[0];
  const HeadRef ref{tap.address.layer, tap.heads[0], part_of(tap.address)};
  const auto blocks = block_weights(trace, ref);
  ASSERT_TRUE(blocks);
  for (int from = 0; from < 2; ++from) {
    for (int to = 0; to < 2; ++to) {
      double sum = 0;
      for (Index i = from * 5; i < (from == 0 ? 5 : 8); ++i) {
        for (Index c = to * 5; c < (to == 0 ? 5 : 8); ++c) {
          sum += static_cast<double>(tap.attention(0)(i, c));
        }
      }
      EXPECT_TRUE(std::abs(blocks->weights[from][to] - sum / (from == 0 ? 5 : 3)) <= 1e-12);
    }
    EXPECT_TRUE(std::abs(blocks->weights[from][0] + blocks->weights[from][1] - 1) <= 1e-5);
  }
  EXPECT_FALSE(block_weights(testing::synthetic_trace(Pattern::all(8, 8)), ref));
}

TEST(Sentences, ComputesBlockWeightsWithoutSpecialTokens) {
  Trace trace = two_sentences();
  trace.tokens[0].special = trace.tokens[7].special = true;
  const AttentionTap& tap = trace.attention[0];
  const HeadRef ref{tap.address.layer, tap.heads[0], part_of(tap.address)};
  const auto blocks = block_weights(trace, ref, true);
  ASSERT_TRUE(blocks);
  double sum = 0;
  for (Index i = 1; i < 5; ++i)
    sum += static_cast<double>(tap.attention(0)(i, 5) + tap.attention(0)(i, 6));
  EXPECT_TRUE(std::abs(blocks->weights[0][1] - sum / 4) <= 1e-7);
  EXPECT_LT(blocks->weights[0][0] + blocks->weights[0][1], 0.999);
}

TEST(Sentences, VectorsUseTheLastLayer) {
  const Trace trace = two_sentences();
  const Tensor& states = trace.taps.at("layers.1.residual");
  const std::vector<double> mean = sentence_vector(trace, SentenceVector::Mean, 1);
  const std::vector<double> first = sentence_vector(trace, SentenceVector::First, 1);
  ASSERT_EQ(mean.size(), 3u);
  ASSERT_EQ(first.size(), 3u);
  for (Index c = 0; c < 3; ++c) {
    const double sum = static_cast<double>(states(5, c)) + static_cast<double>(states(6, c)) +
                       static_cast<double>(states(7, c));
    EXPECT_TRUE(std::abs(mean[static_cast<std::size_t>(c)] - sum / 3) <= 1e-12);
    EXPECT_EQ(first[static_cast<std::size_t>(c)], static_cast<double>(states(5, c)));
  }
  EXPECT_EQ(sentence_vector(trace, SentenceVector::First),
            sentence_vector(trace, SentenceVector::First, 0));
  EXPECT_TRUE(
      sentence_vector(testing::synthetic_trace(Pattern::all(8, 8)), SentenceVector::Mean).empty());
}

TEST(Sentences, ComputesCosineSimilarity) {
  EXPECT_TRUE(std::abs(cosine_similarity({1, 2, 2}, {2, 1, 2}) - 8.0 / 9) <= 1e-15);
  EXPECT_TRUE(std::abs(cosine_similarity({1, 0}, {-3, 0}) + 1) <= 1e-15);
  EXPECT_TRUE(std::isnan(cosine_similarity({1, 0}, {1, 0, 0})));
  EXPECT_TRUE(std::isnan(cosine_similarity({}, {})));
  EXPECT_TRUE(std::isnan(cosine_similarity({0, 0}, {1, 0})));
}

TEST(Sentences, ComparesStatesOfTwoRuns) {
  const Trace a = two_sentences();
  Trace b = a;
  Tensor states = a.taps.at("layers.1.residual").value().copy();
  for (Index c = 0; c < states.dim(1); ++c) states(2, c) *= -2;
  b.taps["layers.1.residual"] = states;
  const std::vector<double> similarities = state_similarities(a, b);
  ASSERT_EQ(similarities.size(), a.tokens.size());
  for (std::size_t n = 0; n < similarities.size(); ++n) {
    EXPECT_TRUE(std::abs(similarities[n] - (n == 2 ? -1 : 1)) <= 1e-6) << n;
  }
  b.taps["layers.1.residual"] = Tensor::zeros({states.dim(0), states.dim(1) + 1});
  EXPECT_TRUE(state_similarities(a, b).empty());
  b.taps.clear();
  EXPECT_TRUE(state_similarities(a, b).empty());
}

// Memory columns precede the tokens and belong to no sentence. A third sentence is ignored.
TEST(Sentences, BlockWeightsIgnoreMemory) {
  Trace trace = testing::synthetic_trace(Pattern::all(8, 11));
  for (std::size_t n = 3; n < 6; ++n) trace.tokens[n].sentence = 1;
  for (std::size_t n = 6; n < 8; ++n) trace.tokens[n].sentence = 2;
  const AttentionTap& tap = trace.attention[0];
  ASSERT_EQ(tap.keys(), 11);
  const HeadRef ref{tap.address.layer, tap.heads[1], part_of(tap.address)};
  const auto blocks = block_weights(trace, ref);
  ASSERT_TRUE(blocks);
  for (int from = 0; from < 2; ++from) {
    for (int to = 0; to < 2; ++to) {
      double sum = 0;
      for (Index i = 3 * from; i < 3 * from + 3; ++i) {
        for (Index c = 3 * to; c < 3 * to + 3; ++c) {
          sum += static_cast<double>(tap.attention(1)(i, 3 + c));
        }
      }
      EXPECT_NEAR(blocks->weights[from][to], sum / 3, 1e-6);
    }
  }
  // Without a query of the second sentence there is no result.
  for (TraceToken& token : trace.tokens) token.sentence = token.sentence == 1 ? 2 : token.sentence;
  EXPECT_TRUE(has_two_sentences(trace));
  EXPECT_FALSE(block_weights(trace, ref));
  for (TraceToken& token : trace.tokens) token.sentence = 1;
  EXPECT_FALSE(block_weights(trace, ref));
}

TEST(Sentences, VectorsCoverAllTokensOrNone) {
  Trace trace = two_sentences();
  const Tensor& states = trace.taps.at("layers.1.residual");
  const std::vector<double> mean = sentence_vector(trace, SentenceVector::Mean, -1);
  for (Index c = 0; c < 3; ++c) {
    double sum = 0;
    for (Index i = 0; i < 8; ++i) sum += static_cast<double>(states(i, c));
    EXPECT_NEAR(mean[static_cast<std::size_t>(c)], sum / 8, 1e-9);
  }
  EXPECT_TRUE(sentence_vector(trace, SentenceVector::Mean, 2).empty());
  trace.tokens.pop_back();  // the states no longer match
  EXPECT_TRUE(sentence_vector(trace, SentenceVector::Mean, 0).empty());
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
