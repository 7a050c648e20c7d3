#include "core/training/drawn_sequences.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "core/base/error.h"
#include "core/training/repeat.h"
#include "tests/core/training/plans.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

// From the second period on, each token equals the token one period before. Targets begin after the
// first repeated token, which is unpredictable.
TEST(RepeatedSequences, RepeatSegmentsOfRandomLength) {
  const Index vocabulary = 1000;
  for (const Index length : {8, 9, 40, 128}) {
    const DrawnSequences stream = repeated_sequences(vocabulary, length, 1);
    IntTensor inputs, targets;
    stream.batch(0, 300, inputs, targets);
    ASSERT_EQ(inputs.shape(), (Shape{300, length}));
    ASSERT_EQ(targets.shape(), inputs.shape());
    std::set<Index> periods;
    for (Index b = 0; b < 300; ++b) {
      Index period = 0;  // equals the index of the first target
      while (period < length && targets(b, period) < 0) ++period;
      periods.insert(period);
      EXPECT_TRUE(period >= 2 && 16 * period >= length - 15 && 2 * period <= length + 1) << period;
      for (Index i = 0; i < length; ++i) {
        ASSERT_TRUE(inputs(b, i) >= 0 && inputs(b, i) < vocabulary);
        if (i < period) continue;
        EXPECT_EQ(inputs(b, i), inputs(b, i - period));
        EXPECT_EQ(targets(b, i), inputs(b, i + 1 - period));
        EXPECT_TRUE(i + 1 == length || targets(b, i) == inputs(b, i + 1));
      }
    }
    EXPECT_GE(static_cast<Index>(periods.size()), length / 4);  // periods vary
  }
}

TEST(RepeatedSequences, DoNotDependOnEarlierCalls) {
  const DrawnSequences stream = repeated_sequences(256, 32, 7);
  const DrawnSequences other_stream = repeated_sequences(256, 32, 8);
  IntTensor all_inputs, later_inputs, targets;
  stream.batch(0, 20, all_inputs, targets);
  stream.batch(15, 2, later_inputs, targets);
  EXPECT_TRUE(std::equal(later_inputs.begin(), later_inputs.end(), all_inputs.begin() + 15 * 32));
  other_stream.batch(0, 20, later_inputs, targets);
  EXPECT_FALSE(std::equal(later_inputs.begin(), later_inputs.end(), all_inputs.begin()));
}

TEST(RepeatedSequences, RejectInvalidSizes) {
  EXPECT_THROW(repeated_sequences(256, 7, 1), InputError);
  EXPECT_THROW(repeated_sequences(0, 32, 1), InputError);
}

TEST(DrawnSequencesScore, RejectsModelsThatSeeLaterTokens) {
  const testing::TemporaryFolder folder;
  Model model = make_model(testing::tiny_plan(folder.path()).model, 3);
  const DrawnSequences stream = repeated_sequences(256, 24, 5);
  EXPECT_NO_THROW(score_of(model, stream, 1));
  model.config.causal = false;
  EXPECT_THROW(score_of(model, stream, 1), InputError);
}

// Compares the score with loss and accuracy computed by definition, row by row.
TEST(DrawnSequencesScore, AveragesOverTargets) {
  const testing::TemporaryFolder folder;
  ModelConfig config = testing::tiny_plan(folder.path()).model;
  config.vocabulary = 5;  // small enough for some correct guesses
  const Model model = make_model(config, 3);
  const DrawnSequences stream = repeated_sequences(config.vocabulary, 24, 5);
  const Index count = 40;
  IntTensor inputs, targets;
  stream.batch(0, count, inputs, targets);
  const Tensor logits = forward(model, inputs).value();
  double loss = 0, correct = 0, target_count = 0;
  for (Index row = 0; row < targets.size(); ++row) {
    if (targets[row] < 0) continue;
    const float* x = logits.data() + row * config.vocabulary;
    double sum = 0;
    Index most_likely = 0;
    for (Index v = 0; v < config.vocabulary; ++v) {
      sum += std::exp(static_cast<double>(x[v]));
      if (x[v] > x[most_likely]) most_likely = v;
    }
    loss += std::log(sum) - static_cast<double>(x[targets[row]]);
    correct += most_likely == targets[row] ? 1 : 0;
    ++target_count;
  }
  const Score score = score_of(model, stream, count);
  EXPECT_NEAR(score.loss, loss / target_count, 1e-5);
  EXPECT_NEAR(score.accuracy, correct / target_count, 1e-9);
  EXPECT_GT(score.accuracy, 0);
  EXPECT_TRUE(std::isnan(score.bits_per_byte));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
