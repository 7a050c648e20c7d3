#include "core/experiment/salient_pairs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/model/config.h"
#include "tests/support/compare.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

// Trace of "The she saw lamp , she took lamp" with one layer of two heads. Tests set the weights.
class SalientPairs : public ::testing::Test {
 protected:
  SalientPairs() {
    const std::vector<std::string> words{"The", "she", "saw", "lamp", ",", "she", "took", "lamp"};
    const auto count = static_cast<Index>(words.size());
    trace_ = testing::synthetic_trace(1, 2, count);
    trace_.logits = {};
    trace_.token_bits = {};
    for (std::size_t n = 0; n < words.size(); ++n) {
      TraceToken& token = trace_.tokens[n];
      token.bytes = token.label = words[n];
      const auto first = std::find(words.begin(), words.end(), words[n]);
      token.id = static_cast<std::int32_t>(first - words.begin());
    }
    weights_ = Tensor::zeros({2, count, count});
    for (Index head = 0; head < 2; ++head) {
      for (Index row = 0; row < count; ++row) weights_(head, row, 0) = 1;
    }
  }

  std::vector<SalientPair> pairs(std::size_t count = 100) {
    return find_salient_pairs(trace_with(weights_), count);
  }
  const Trace& trace_with(const Tensor& weights) {
    trace_.attention[0].result.attention = weights;
    return trace_;
  }
  // Puts the remaining weight of the row on the first word.
  void set(Index head, Index query, Index key, float weight) {
    weights_(head, query, key) = weight;
    weights_(head, query, 0) -= weight;
  }

  Trace trace_;
  Tensor weights_;
};

TEST_F(SalientPairs, ScoreIsWeightTimesLogDistance) {
  set(1, 6, 3, 0.5F);
  const auto best_pairs = pairs();
  ASSERT_EQ(best_pairs.size(), 1u);  // the first word is no candidate
  EXPECT_EQ(best_pairs[0].at.head, 1);
  EXPECT_EQ(best_pairs[0].query, 6);
  EXPECT_EQ(best_pairs[0].key, 3);
  EXPECT_EQ(best_pairs[0].words, 3);
  EXPECT_EQ(best_pairs[0].kind, PairKind::Distant);
  EXPECT_NEAR(best_pairs[0].score, 0.5 * std::log(4.0), 1e-6);
  EXPECT_EQ(sentence(best_pairs[0]),
            "“took” looks at “lamp” with 50%; the other words give “lamp” 0% on average");
}

// The largest of three means is subtracted: over the other queries, over the other pairs at the
// same distance, and over the other heads.
TEST_F(SalientPairs, ScoreIsContrast) {
  set(0, 6, 3, 0.5F);
  set(0, 7, 3, 0.2F);
  const double others = 0.2 / 4;  // queries 3, 4, 5 and 7
  EXPECT_NEAR(pairs(1).at(0).other_weight, others, 1e-6);
  EXPECT_NEAR(pairs(1).at(0).score, (0.5 - others) * std::log(4.0), 1e-6);
  set(1, 6, 3, 0.3F);
  EXPECT_NEAR(pairs(1).at(0).other_heads, 0.3, 1e-6);
  EXPECT_NEAR(pairs(1).at(0).score, (0.5 - 0.3) * std::log(4.0), 1e-6);
  set(1, 6, 3, -0.3F);
  weights_(1, 6, 3) = 0;
  for (const Index query : {4, 5, 7}) set(0, query, query - 3, 0.45F);
  const double same_distance = 3 * 0.45 / 3;  // keys 1, 2 and 4
  const auto best_pairs = pairs();
  const auto found = std::ranges::find_if(
      best_pairs, [](const SalientPair& p) { return p.query == 6 && p.key == 3; });
  ASSERT_NE(found, best_pairs.end());
  EXPECT_LE(found->score, (0.5 - same_distance) * std::log(4.0) + 1e-6);  // may have been halved
}

TEST_F(SalientPairs, ColumnThatAttractsAllQueriesNeverWins) {
  for (Index query = 3; query < 8; ++query) set(0, query, 2, 0.9F);
  weights_(0, 7, 2) = 0.99F;
  set(1, 6, 3, 0.02F);
  const auto best_pairs = pairs();
  ASSERT_EQ(best_pairs.size(), 1u);
  EXPECT_EQ(best_pairs[0].key, 3);
}

TEST_F(SalientPairs, ExceededPairsComeLast) {
  set(0, 7, 2, 0.6F);
  set(0, 5, 2, 0.7F);
  set(1, 6, 4, 0.1F);
  trace_.tokens[4].bytes = "and";
  const auto best_pairs = pairs();
  ASSERT_EQ(best_pairs.size(), 3u);
  EXPECT_EQ(best_pairs[0].query, 5);
  EXPECT_EQ(best_pairs[1].key, 4);
  EXPECT_EQ(best_pairs[2].query, 7);
  EXPECT_FALSE(is_exceeded(best_pairs[0]));
  EXPECT_TRUE(is_exceeded(best_pairs[2]));
  EXPECT_EQ(sentence(best_pairs[2]),
            "“lamp” looks at “saw” with 60%; the other words give “saw” 14% on average, “she” 70%");
}

TEST_F(SalientPairs, IncludesPairsOfBrackets) {
  trace_.tokens[2].bytes = "(";
  trace_.tokens[4].bytes = ")";
  set(0, 4, 2, 0.6F);
  set(0, 6, 2, 0.7F);  // a word and a bracket are no pair
  const auto best_pairs = pairs();
  ASSERT_EQ(best_pairs.size(), 1u);
  EXPECT_EQ(best_pairs[0].kind, PairKind::Bracket);
  EXPECT_EQ(sentence(best_pairs[0]),
            "“)” looks at “(” with 60%; the other words give “(” 14% on average, “took” 70%");
  trace_.tokens[4].bytes = "]";  // of another kind
  EXPECT_TRUE(pairs().empty());
}

TEST_F(SalientPairs, FindsMostSalientPairOfWord) {
  set(0, 6, 3, 0.5F);
  set(1, 6, 2, 0.6F);
  set(0, 7, 3, 0.4F);
  EXPECT_EQ(most_salient_pair(trace_with(weights_), 6)->key, 2);
  EXPECT_EQ(most_salient_pair(trace_with(weights_), 7)->key, 3);
  EXPECT_FALSE(most_salient_pair(trace_with(weights_), 5).has_value());
}

TEST_F(SalientPairs, SurprisingWordsScoreHigher) {
  trace_.token_bits = Tensor::full({8}, 1);
  trace_.token_bits[0] = std::nanf("");
  trace_.token_bits[3] = 6;
  set(0, 6, 3, 0.5F);
  EXPECT_NEAR(pairs().at(0).score, 0.5 * std::log(4.0) * std::log(7.0), 1e-6);
}

TEST_F(SalientPairs, ClassifiesPairs) {
  set(0, 5, 2, 0.4F);  // "saw" follows the previous "she"
  set(0, 7, 3, 0.3F);  // same word: "lamp"
  set(1, 1, 0, 0);
  set(1, 5, 3, 0.3F);  // pronoun to another word
  std::vector<PairKind> kinds;
  for (const SalientPair& pair : pairs()) kinds.push_back(pair.kind);
  EXPECT_EQ(kinds, (std::vector{PairKind::Induction, PairKind::Pronoun, PairKind::SameWord}));
  const SalientPair first = pairs(1).at(0);
  EXPECT_NEAR(first.score, 2 * 0.4 * std::log(4.0), 1e-6);
  EXPECT_EQ(
      sentence(first),
      "“she” looks at “saw”, which followed the earlier “she”, with 40%; the other words give "
      "“saw” 0% on average");
}

// The second selected pair has another head and other words than the best pair.
TEST_F(SalientPairs, SelectsDiversePairs) {
  set(0, 6, 2, 0.60F);
  set(0, 7, 2, 0.30F);  // same head and key
  set(0, 6, 3, 0.39F);  // same head and query
  set(1, 7, 3, 0.20F);
  const auto best_pairs = pairs();
  ASSERT_EQ(best_pairs.size(), 4u);
  EXPECT_EQ(best_pairs[0].key, 2);
  EXPECT_EQ(best_pairs[1].at.head, 1);
  EXPECT_NEAR(best_pairs[1].score, 0.2 * std::log(5.0), 1e-6);
  EXPECT_EQ(pairs(2).size(), 2u);
}

TEST_F(SalientPairs, OmitsPunctuationAndInvalidWeights) {
  set(0, 4, 2, 0.9F);  // query is a comma
  set(0, 6, 4, 0.9F);  // key is a comma
  set(0, 7, 7, 0.9F);  // the query itself
  weights_(1, 6, 3) = -0.9F;
  weights_(1, 6, 2) = std::nanf("");
  EXPECT_TRUE(pairs().empty());
}

// Memory columns are not words of the text.
TEST_F(SalientPairs, MemoryHasNoWords) {
  Trace memory_trace = testing::synthetic_trace(Pattern::causal(8, 12));
  memory_trace.token_bits = {};
  const std::vector<SalientPair> best_pairs = find_salient_pairs(memory_trace, 100);
  ASSERT_FALSE(best_pairs.empty());
  for (const SalientPair& pair : best_pairs) {
    EXPECT_GE(pair.key, 4);
    EXPECT_EQ(pair.words, pair.query - (pair.key - 4));
    EXPECT_GT(pair.words, 0);
  }
}

TEST_F(SalientPairs, SelectsPairInView) {
  set(1, 6, 3, 0.5F);
  ViewSettings view;
  view.width = 3;
  view.height = 3;
  view.part.step = 2;
  point_at(pairs().at(0), trace_.parts, view);
  EXPECT_EQ(view.head, 1);
  EXPECT_EQ(view.pinned_query, 6);
  EXPECT_EQ(view.pinned_key, 3);
  EXPECT_EQ(view.width, 0);
  EXPECT_FALSE(view.part.step.has_value());
}

TEST_F(SalientPairs, RejectsTextsWithoutWords) {
  Trace none = trace_;
  none.attention.clear();
  EXPECT_NE(salient_pairs_refusal(none), "");
  EXPECT_THROW(find_salient_pairs(none, 3), InputError);
  Trace pixels = trace_;
  pixels.pixels = std::make_shared<const PixelGrid>();
  EXPECT_THROW(find_salient_pairs(pixels, 3), InputError);
  Trace long_trace = trace_;
  long_trace.tokens.resize(static_cast<std::size_t>(kMaxSalientTokens) + 1);
  EXPECT_THROW(find_salient_pairs(long_trace, 3), InputError);
}

// Only the best eight pairs of a head are candidates. Scores of induction and pronoun pairs are
// doubled.
TEST_F(SalientPairs, KeepsBestEightPerHead) {
  std::vector<std::pair<double, std::pair<Index, Index>>> expected;
  const auto set_weight = [&](Index query, Index key, float weight) { set(0, query, key, weight); };
  set_weight(2, 1, 0.30F);
  set_weight(3, 1, 0.32F);
  set_weight(3, 2, 0.34F);
  set_weight(5, 2, 0.28F);  // "saw" follows the previous "she": factor 2
  set_weight(5, 3, 0.25F);  // pronoun: factor 2
  set_weight(6, 1, 0.36F);
  set_weight(6, 2, 0.05F);
  set_weight(6, 3, 0.38F);
  set_weight(6, 5, 0.02F);
  set_weight(7, 1, 0.21F);
  set_weight(7, 2, 0.28F);
  set_weight(7, 5, 0.23F);
  set_weight(7, 6, 0.20F);
  const auto weight = [&](Index query, Index key) {
    return static_cast<double>(weights_(0, query, key));
  };
  for (Index query = 1; query < 8; ++query) {
    for (Index key = 1; key < query; ++key) {
      double others = 0, at_distance = 0;
      for (Index row = key; row < 8; ++row) others += row == query ? 0 : weight(row, key);
      others /= static_cast<double>(7 - key);
      const Index distance = query - key, pairs_at_distance = 7 - distance;
      for (Index row = distance + 1; row < 8; ++row) {
        at_distance += row == query ? 0 : weight(row, row - distance);
      }
      if (pairs_at_distance > 1) at_distance /= static_cast<double>(pairs_at_distance - 1);
      const bool has_factor = query == 5 && (key == 2 || key == 3);
      const double score = (weight(query, key) - std::max(others, at_distance)) *
                           std::log1p(static_cast<double>(distance)) * (has_factor ? 2 : 1);
      if (others > weight(query, key) / 2 || !(score > 0)) continue;
      expected.push_back({score, {query, key}});
    }
  }
  std::ranges::sort(expected, std::ranges::greater{});
  ASSERT_GT(expected.size(), 8u);
  expected.resize(8);
  // Each selected pair halves the score of another pair for the same head, the same query and the
  // same key, up to three times.
  std::vector<std::pair<Index, Index>> order;
  std::vector<double> scores;
  while (!expected.empty()) {
    const auto next = std::ranges::max_element(expected);
    const auto [score, pair] = *next;
    order.push_back(pair);
    scores.push_back(score);
    expected.erase(next);
    for (auto& [remaining, other] : expected) {
      remaining /= 2;
      if (other.first == pair.first) remaining /= 2;
      if (other.second == pair.second) remaining /= 2;
    }
  }
  auto best_pairs = pairs();
  std::ranges::sort(best_pairs, std::ranges::greater{}, &SalientPair::score);  // also exceeded ones
  ASSERT_EQ(best_pairs.size(), 8u);
  for (std::size_t n = 0; n < 8; ++n) {
    EXPECT_EQ(best_pairs[n].query, order[n].first) << n;
    EXPECT_EQ(best_pairs[n].key, order[n].second) << n;
    EXPECT_NEAR(best_pairs[n].score, scores[n], 1e-6) << n;
  }
  EXPECT_TRUE(pairs(0).empty());
}

// In bidirectional attention, later keys are candidates, but they form no induction pairs.
TEST_F(SalientPairs, IncludesLaterKeysOfBidirectionalAttention) {
  trace_.attention[0].causal = false;
  trace_.attention[0].result.pattern = std::make_shared<const Pattern>(Pattern::all(8, 8));
  set(0, 1, 6, 0.5F);  // "she" to "took", which follows the other "she"
  set(0, 0, 3, 0.9F);  // the first word is no query
  const auto best_pairs = pairs();
  ASSERT_EQ(best_pairs.size(), 1u);
  EXPECT_EQ(best_pairs[0].words, -5);
  EXPECT_EQ(best_pairs[0].kind, PairKind::Distant);
  EXPECT_NEAR(best_pairs[0].score, 0.5 * std::log(6.0), 1e-6);
  EXPECT_EQ(sentence(best_pairs[0]),
            "“she” looks at “took” with 50%; the other words give “took” 0% on average");
}

// Tokens with unknown ids never count as the same word.
TEST_F(SalientPairs, UnknownWordsDiffer) {
  for (TraceToken& token : trace_.tokens) token.id = -1;
  trace_.tokens[5].bytes = "they";
  set(0, 7, 3, 0.4F);
  set(0, 6, 2, 0.3F);
  for (const SalientPair& pair : pairs()) EXPECT_EQ(pair.kind, PairKind::Distant);
  set(1, 5, 1, 0.5F);  // pronoun to pronoun
  EXPECT_EQ(pairs().size(), 3u);
  for (const SalientPair& pair : pairs()) EXPECT_EQ(pair.kind, PairKind::Distant);
}

// A word contains a letter, a digit or a non-ASCII byte, and is not a special token.
TEST_F(SalientPairs, WordsContainLetters) {
  set(0, 6, 3, 0.5F);
  trace_.tokens[3].bytes = "\xC3\xA9";
  EXPECT_EQ(pairs().size(), 1u);
  trace_.tokens[3].bytes = "\xC2\x80";
  EXPECT_EQ(pairs().size(), 1u);
  trace_.tokens[3].bytes = "?!";
  EXPECT_EQ(pairs().size(), 0u);
  trace_.tokens[3].bytes = "?7";
  EXPECT_EQ(pairs().size(), 1u);
  trace_.tokens[3].special = true;
  EXPECT_EQ(pairs().size(), 0u);
}

// The surprisal of a word is the sum over its tokens. Tokens without a surprisal count as zero.
TEST_F(SalientPairs, SurprisalSumsTokensOfWord) {
  trace_.tokens[2].bytes = " sa";
  trace_.tokens[3].bytes = "w";
  for (const std::size_t n : {1u, 4u, 5u, 6u, 7u}) {
    trace_.tokens[n].bytes = " " + trace_.tokens[n].bytes;
  }
  trace_.token_bits = Tensor::from({8}, {NAN, 1, 2, 3, 1, 1, 4, 1});
  set(0, 6, 2, 0.2F);
  set(0, 6, 3, 0.3F);
  const auto best_pairs = pairs();
  ASSERT_EQ(best_pairs.size(), 1u);
  EXPECT_EQ(best_pairs[0].key_word, "saw");
  EXPECT_EQ(best_pairs[0].query, 6);
  EXPECT_EQ(best_pairs[0].key, 2);
  const double distance = static_cast<double>(best_pairs[0].words);
  const double surprise_factor = std::log1p(2.0 + 3.0);
  EXPECT_NEAR(best_pairs[0].score, 0.5 * std::log1p(distance) * surprise_factor, 1e-5);
  EXPECT_TRUE(best_pairs[0].is_merged);
  ViewSettings view;
  point_at(best_pairs[0], trace_.parts, view);
  EXPECT_TRUE(view.words);  // the map shows the pair's weight in one cell
}

TEST_F(SalientPairs, RejectsLongTexts) {
  Trace long_trace = trace_;
  long_trace.tokens.resize(static_cast<std::size_t>(kMaxSalientTokens));
  EXPECT_EQ(salient_pairs_refusal(long_trace), "");
  long_trace.tokens.resize(static_cast<std::size_t>(kMaxSalientTokens) + 1);
  EXPECT_NE(salient_pairs_refusal(long_trace), "");
  Trace cross_trace = trace_;
  cross_trace.attention[0].address.kind = AttentionKind::Cross;
  EXPECT_NE(salient_pairs_refusal(cross_trace), "");
  Progress progress;
  set(0, 6, 3, 0.5F);
  pairs();
  find_salient_pairs(trace_, 1, &progress);
  EXPECT_EQ(progress.snapshot().share, 1);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
