#include "core/experiment/striking.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/model/config.h"
#include "tests/support/compare.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace {

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

}  // namespace
}  // namespace attnscope
