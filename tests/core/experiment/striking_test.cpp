#include "core/experiment/striking.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/error.h"
#include "core/model/config.h"
#include "tests/support/compare.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

// "she saw a lamp , she took it": one layer, two heads, whose weights a test sets.
class Striking : public ::testing::Test {
 protected:
  Striking() {
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

  std::vector<StrikingPair> pairs(std::size_t most = 100) {
    trace_.attention[0].result.attention = weights_;
    return striking_pairs(trace_, most);
  }
  // The row keeps the rest on the first word.
  void set(Index head, Index query, Index key, float weight) {
    weights_(head, query, key) = weight;
    weights_(head, query, 0) -= weight;
  }

  Trace trace_;
  Tensor weights_;
};

TEST_F(Striking, WeightTimesTheLogarithmOfTheDistance) {
  set(1, 6, 3, 0.5F);
  const auto found = pairs();
  ASSERT_EQ(found.size(), 1u);  // the first word is no answer
  EXPECT_EQ(found[0].at.head, 1);
  EXPECT_EQ(found[0].query, 6);
  EXPECT_EQ(found[0].key, 3);
  EXPECT_EQ(found[0].words, 3);
  EXPECT_EQ(found[0].habit, Habit::LooksFar);
  // Five queries may see it.
  EXPECT_NEAR(found[0].score, (0.5 - 0.1 / 2) * std::log(4.0), 1e-6);
  EXPECT_EQ(sentence(found[0]), "“took” looks back 3 words at “lamp”, with 50% of its weight");
}

TEST_F(Striking, WordsThatNobodyCouldGuessCountMore) {
  trace_.token_bits = Tensor::full({8}, 1);
  trace_.token_bits[0] = std::nanf("");
  trace_.token_bits[3] = 6;
  set(0, 6, 3, 0.5F);
  EXPECT_NEAR(pairs().at(0).score, (0.5 - 0.1 / 2) * std::log(4.0) * std::log(2.0) * std::log(7.0),
              1e-6);
}

TEST_F(Striking, HabitsAreTold) {
  set(0, 5, 2, 0.4F);  // what followed "she" before
  set(0, 7, 3, 0.3F);  // "lamp" before
  set(1, 1, 0, 0);
  set(1, 5, 3, 0.3F);  // a pronoun at another word
  std::vector<Habit> habits;
  for (const StrikingPair& pair : pairs()) habits.push_back(pair.habit);
  EXPECT_EQ(habits, (std::vector{Habit::GoesOn, Habit::Pronoun, Habit::SameWord}));
  const StrikingPair first = pairs(1).at(0);
  EXPECT_NEAR(first.score, 2 * (0.4 - 0.4 / 6 / 2) * std::log(4.0), 1e-6);
  EXPECT_EQ(sentence(first),
            "“she” looks back 3 words at “saw”, which followed the last “she”, with 40% of its "
            "weight");
}

// What comes next is of another head, and of other words.
TEST_F(Striking, TheNextShowsSomethingElse) {
  set(0, 6, 2, 0.60F);
  set(0, 7, 2, 0.20F);  // the same head and key
  set(0, 6, 3, 0.39F);  // the same head and query
  set(1, 7, 3, 0.20F);
  const auto found = pairs();
  ASSERT_EQ(found.size(), 4u);
  EXPECT_EQ(found[0].key, 2);
  EXPECT_EQ(found[1].at.head, 1);
  EXPECT_NEAR(found[1].score, (0.2 - 0.2 / 5 / 2) * std::log(5.0), 1e-6);
  EXPECT_EQ(pairs(2).size(), 2u);
}

TEST_F(Striking, LeavesOutWhatIsNoAnswer) {
  set(0, 4, 2, 0.9F);  // a comma asks
  set(0, 6, 4, 0.9F);  // a comma answers
  set(0, 7, 7, 0.9F);  // itself
  weights_(1, 6, 3) = -0.9F;
  weights_(1, 6, 2) = std::nanf("");
  EXPECT_TRUE(pairs().empty());
}

// What is remembered is no word of the text: columns before the tokens are left out.
TEST_F(Striking, MemoryHasNoWords) {
  Trace remembering = testing::synthetic_trace(Pattern::causal(8, 12));
  remembering.token_bits = {};
  const std::vector<StrikingPair> found = striking_pairs(remembering, 100);
  ASSERT_FALSE(found.empty());
  for (const StrikingPair& pair : found) {
    EXPECT_GE(pair.key, 4);
    EXPECT_EQ(pair.words, pair.query - (pair.key - 4));
    EXPECT_GT(pair.words, 0);
  }
}

TEST_F(Striking, PointsTheViewAtIt) {
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

TEST_F(Striking, RefusesWhereThereAreNoWords) {
  Trace none = trace_;
  none.attention.clear();
  EXPECT_NE(striking_refusal(none), "");
  EXPECT_THROW(striking_pairs(none, 3), InputError);
  Trace pixels = trace_;
  pixels.pixels = std::make_shared<const PixelGrid>();
  EXPECT_THROW(striking_pairs(pixels, 3), InputError);
  Trace lengthy = trace_;
  lengthy.tokens.resize(static_cast<std::size_t>(kMostStrikingTokens) + 1);
  EXPECT_THROW(striking_pairs(lengthy, 3), InputError);
}

// Eight of a head are kept: the best, also those whose habit alone makes them so.
TEST_F(Striking, TheBestEightOfAHeadAreKept) {
  std::vector<std::pair<double, std::pair<Index, Index>>> expected;
  const auto put = [&](Index query, Index key, float weight) { set(0, query, key, weight); };
  put(2, 1, 0.30F);
  put(3, 1, 0.32F);
  put(3, 2, 0.34F);
  put(5, 2, 0.10F);  // what followed "she" before: twice as much
  put(5, 3, 0.11F);  // a pronoun: twice as much
  put(6, 1, 0.36F);
  put(6, 2, 0.05F);
  put(6, 3, 0.38F);
  put(6, 5, 0.02F);
  put(7, 1, 0.21F);
  put(7, 2, 0.22F);
  put(7, 5, 0.23F);
  put(7, 6, 0.01F);
  std::map<Index, double> usual;
  for (Index key = 1; key < 8; ++key) {
    for (Index row = key; row < 8; ++row) {
      usual[key] += static_cast<double>(weights_(0, row, key)) / static_cast<double>(8 - key);
    }
  }
  for (Index query = 1; query < 8; ++query) {
    for (Index key = 1; key < query; ++key) {
      const auto weight = static_cast<double>(weights_(0, query, key));
      const bool liked = query == 5 && (key == 2 || key == 3);
      const double score = (weight - usual[key] / 2) *
                           std::log1p(static_cast<double>(query - key)) * (liked ? 2 : 1);
      if (weight > 0 && score > 0) expected.push_back({score, {query, key}});
    }
  }
  std::ranges::sort(expected, std::ranges::greater{});
  ASSERT_GT(expected.size(), 8u);
  expected.resize(8);
  // In turn each makes those of its head, its query and its key count half.
  std::vector<std::pair<Index, Index>> order;
  std::vector<double> scores;
  while (!expected.empty()) {
    const auto next = std::ranges::max_element(expected);
    const auto [score, pair] = *next;
    order.push_back(pair);
    scores.push_back(score);
    expected.erase(next);
    for (auto& [left, other] : expected) {
      left /= 2;
      if (other.first == pair.first) left /= 2;
      if (other.second == pair.second) left /= 2;
    }
  }
  const auto found = pairs();
  ASSERT_EQ(found.size(), 8u);
  for (std::size_t n = 0; n < 8; ++n) {
    EXPECT_EQ(found[n].query, order[n].first) << n;
    EXPECT_EQ(found[n].key, order[n].second) << n;
    EXPECT_NEAR(found[n].score, scores[n], 1e-6) << n;
  }
  EXPECT_TRUE(pairs(0).empty());
}

// Where queries see what comes later, all of them count, and words ahead are no habit.
TEST_F(Striking, LooksAheadWhereItMay) {
  trace_.attention[0].causal = false;
  trace_.attention[0].result.pattern = std::make_shared<const Pattern>(Pattern::all(8, 8));
  set(0, 1, 6, 0.5F);  // "she" at "took", which follows the other "she"
  set(0, 0, 3, 0.9F);  // the first word is none to ask
  const auto found = pairs();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].words, -5);
  EXPECT_EQ(found[0].habit, Habit::LooksFar);
  EXPECT_NEAR(found[0].score, (0.5 - 0.5 / 8 / 2) * std::log(6.0), 1e-6);
  EXPECT_EQ(sentence(found[0]), "“she” looks ahead 5 words at “took”, with 50% of its weight");
}

// Tokens that nobody knows are not the same, whatever they are called.
TEST_F(Striking, UnknownWordsAreNotTheSame) {
  for (TraceToken& token : trace_.tokens) token.id = -1;
  trace_.tokens[5].bytes = "they";
  set(0, 7, 3, 0.4F);
  set(0, 6, 2, 0.3F);
  for (const StrikingPair& pair : pairs()) EXPECT_EQ(pair.habit, Habit::LooksFar);
  set(1, 5, 1, 0.5F);  // a pronoun at a pronoun
  EXPECT_EQ(pairs().size(), 3u);
  for (const StrikingPair& pair : pairs()) EXPECT_EQ(pair.habit, Habit::LooksFar);
}

// What special tokens and letters beyond ASCII stand for: words that may be answers, or not.
TEST_F(Striking, WordsAreWhatIsMoreThanPunctuation) {
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

// A word costs what all its pieces do, and the one that has no number nothing.
TEST_F(Striking, SurpriseIsOfWholeWords) {
  trace_.tokens[2].bytes = " sa";
  trace_.tokens[3].bytes = "w";
  for (const std::size_t n : {1u, 4u, 5u, 6u, 7u}) {
    trace_.tokens[n].bytes = " " + trace_.tokens[n].bytes;
  }
  trace_.token_bits = Tensor::from({8}, {NAN, 1, 2, 3, 1, 1, 4, 1});
  set(0, 6, 2, 0.2F);
  set(0, 6, 3, 0.3F);
  const auto found = pairs();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].key_word, "saw");
  EXPECT_EQ(found[0].query, 6);
  EXPECT_EQ(found[0].key, 2);
  const double distance = static_cast<double>(found[0].words);
  const double worth = std::log1p(4.0) * std::log1p(2.0 + 3.0);
  // Looked at by that query alone, of those that may see it.
  const double seen = 8 - 3;
  EXPECT_NEAR(found[0].score, (0.5 - 0.5 / seen / 2) * std::log1p(distance) * worth, 1e-5);
}

TEST_F(Striking, TextsUpToALimitAreLookedThrough) {
  Trace lengthy = trace_;
  lengthy.tokens.resize(static_cast<std::size_t>(kMostStrikingTokens));
  EXPECT_EQ(striking_refusal(lengthy), "");
  lengthy.tokens.resize(static_cast<std::size_t>(kMostStrikingTokens) + 1);
  EXPECT_NE(striking_refusal(lengthy), "");
  Trace across = trace_;
  across.attention[0].address.kind = AttentionKind::Cross;
  EXPECT_NE(striking_refusal(across), "");
  Progress progress;
  set(0, 6, 3, 0.5F);
  pairs();
  striking_pairs(trace_, 1, {}, &progress);
  EXPECT_EQ(progress.now().share, 1);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
