// Predictions by source length: tallies, table, CSV and figure.
#include <gtest/gtest.h>

#include <cmath>

#include "core/figure/render.h"
#include "core/model/model.h"
#include "core/training/evaluate.h"
#include "core/training/length_figure.h"
#include "tests/core/training/plans.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

Checkpoint untrained(const std::string& task_id, const std::filesystem::path& folder) {
  const TrainingPlan plan = testing::plan_of(task_id, folder);
  Checkpoint checkpoint;
  checkpoint.name = "untrained";
  checkpoint.model = make_model(plan.model, 1);
  checkpoint.tokenizer = byte_tokenizer();
  return checkpoint;
}

TEST(TallyByLength, CountsPairsTokensAndMatches) {
  // Logits that predict ids 1, 2 for the first pair and 1, 1 for the second.
  Tensor logits = Tensor::zeros({2, 2, 4});
  for (const Index row : {0, 2, 3}) logits[row * 4 + 1] = 3;
  logits[1 * 4 + 2] = 3;
  const IntTensor targets = IntTensor::from({2, 2}, {1, 2, 1, 2});
  PairTally tally;
  tally.add(logits, targets);
  EXPECT_EQ(tally.pairs, 2);
  EXPECT_EQ(tally.matches, 1);
  EXPECT_EQ(tally.tokens.count(), 4);
  EXPECT_EQ(tally.tokens.correct_count(), 3);
  EXPECT_EQ(tally.match_share(), 0.5);
  TallyByLength all{{3, tally}};
  add(all, {{3, tally}, {7, tally}});
  EXPECT_EQ(all.at(3).pairs, 4);
  EXPECT_EQ(total(all).pairs, 6);
  EXPECT_TRUE(std::isnan(PairTally{}.match_share()));
}

// The task's score is the sum over its lengths.
TEST(TallyByLength, AddsUpToTheScore) {
  const testing::TemporaryFolder folder;
  for (const char* id : {"numbers", "copy"}) {
    const Checkpoint checkpoint = untrained(id, folder.path());
    const auto instance = task(id).make(testing::plan_of(id, folder.path()));
    const TallyByLength tallies = instance->tally_by_length(checkpoint);
    const Score score = instance->score(checkpoint, true);
    EXPECT_NEAR(pair_score(tallies).loss, score.loss, 1e-6) << id;
    EXPECT_EQ(pair_score(tallies).accuracy, score.accuracy) << id;
    EXPECT_FALSE(tallies.empty()) << id;
  }
  EXPECT_TRUE(task("brackets")
                  .make(testing::plan_of("brackets", folder.path()))
                  ->tally_by_length(untrained("brackets", folder.path()))
                  .empty());
}

TEST(TallyByLength, CountsLinesOfFiles) {
  const testing::TemporaryFolder folder;
  write_file(folder.path() / "pairs.tsv", "24\tvier\n7\tsieben\n31\teins\n");
  const Evaluation result =
      evaluate_file(untrained("numbers", folder.path()), folder.path() / "pairs.tsv", {});
  ASSERT_EQ(result.by_length.size(), 2u);
  EXPECT_EQ(result.by_length.at(1).pairs, 1);
  EXPECT_EQ(result.by_length.at(2).pairs, 2);
  EXPECT_EQ(result.by_length.at(2).tokens.count(), 5 + 5);
}

TEST(LengthFigure, ReportsSharesOfModels) {
  const auto tally = [](Index pairs, Index matches) {
    PairTally result;
    result.pairs = pairs;
    result.matches = matches;
    return result;
  };
  const std::vector<ModelTallies> models{{"with", {{1, tally(4, 4)}, {9, tally(4, 3)}}},
                                         {"without", {{1, tally(4, 4)}, {9, tally(4, 1)}}}};
  EXPECT_EQ(to_table(models),
            "source tokens    pairs     with  without   (exact match)\n"
            "            1        4   1.0000   1.0000\n"
            "            9        4   0.7500   0.2500\n");
  EXPECT_NE(to_csv(models).find("\nwithout,9,4,0.250000,"), std::string::npos) << to_csv(models);
  const DisplayList list = length_picture(models, 700, 420, Theme::light(), file_text_measure());
  std::string text;
  for (const Item& item : list.items) {
    if (const auto* drawn = std::get_if<Text>(&item)) text += drawn->text + "\n";
  }
  for (const char* expected : {"with", "without", "source tokens"}) {
    EXPECT_NE(text.find(expected), std::string::npos) << expected;
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
