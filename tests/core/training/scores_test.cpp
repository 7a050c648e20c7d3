// Generated data and scores of tasks: identical for a seed on every machine and in every version,
// so that trainings can be resumed with a newer version and scores can be compared.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "core/base/random.h"
#include "core/training/evaluate.h"
#include "core/training/masking.h"
#include "core/training/pictures.h"
#include "core/training/stream.h"
#include "core/training/trainer.h"
#include "core/training/walks.h"
#include "tests/core/training/plans.h"
#include "tests/support/compare.h"
#include "tests/support/golden.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

std::string row_text(const IntTensor& ids, Index row) {
  std::string line;
  for (Index i = 0; i < ids.dim(1); ++i) line += ' ' + std::to_string(ids(row, i));
  return line;
}

// Words of random letters, different at every position.
std::string random_words(std::size_t size, std::uint64_t seed) {
  Random random(seed);
  std::string text;
  while (text.size() < size) {
    for (std::uint64_t n = 1 + random.below(7); n > 0; --n) {
      text += static_cast<char>('a' + random.below(26));
    }
    text += ' ';
  }
  return text.substr(0, size);
}

// Writes images of 4 x 4 pixels as a table, all different.
void write_table(const std::filesystem::path& file, int count) {
  std::string table;
  for (int n = 0; n < count; ++n) {
    for (int bit = 0; bit < 16; ++bit) table += std::to_string((n * 37 + 11) >> bit & 1) + ",";
    table += "0\n";
  }
  write_file(file, table);
}

// A plan whose files have different content at each position.
TrainingPlan varied_plan(const std::string& id, const std::filesystem::path& folder) {
  TrainingPlan plan = testing::plan_of(id, folder);
  if (id == "image") {
    write_table(folder / "table.csv", 25);
    plan.text = {folder / "table.csv"};
    plan.held_out_share = 0.45;
  } else if (!plan.text.empty()) {
    write_file(plan.text[0], random_words(2000, 3));
  }
  return plan;
}

TEST(TaskBatches, MatchGolden) {
  const testing::TemporaryFolder folder;
  std::string text;
  for (const TaskInfo& info : tasks()) {
    TrainingPlan plan = varied_plan(info.id, folder.path());
    if (info.id == "numbers") plan.model.context = 100;
    const auto instance = info.make(plan);
    for (const std::uint64_t number : {0, 8, 800}) {
      const Batch batch = instance->batch(number, 3);
      for (Index b = 0; b < 3; ++b) {
        text += info.id + " " + std::to_string(number + static_cast<std::uint64_t>(b)) + "\n";
        const std::pair<const char*, const IntTensor*> parts[] = {{"ids", &batch.ids},
                                                                  {"source", &batch.source},
                                                                  {"actions", &batch.actions},
                                                                  {"targets", &batch.targets}};
        for (const auto& [name, ids] : parts) {
          if (ids->defined()) text += std::string("  ") + name + row_text(*ids, b) + "\n";
        }
      }
    }
  }
  EXPECT_TRUE(testing::matches_golden(text, "core/training/batches.txt"));
}

// A model with fresh weights, scaled so that predictions are far from uniform.
Checkpoint confident_checkpoint(const TrainingPlan& plan, const Task& task) {
  Checkpoint checkpoint;
  checkpoint.tokenizer = task.tokenizer();
  checkpoint.model = make_model(task.config(plan.model), 3);
  for (auto& [name, weight] : checkpoint.model.weights) {
    if (!name.starts_with("embed.") && !name.starts_with("output.")) continue;
    Tensor values = weight.value();
    for (float& x : values) x *= 10;
  }
  return checkpoint;
}

TEST(TaskScores, MatchRecordedValues) {
  const testing::TemporaryFolder folder;
  struct Case {
    const char* id;
    bool all;
    double loss, accuracy, bits;  // NaN: none
  };
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  const Case cases[] = {{"text", false, 6.99799, none, 9.96615},
                        {"text", true, 6.99799, none, 9.96615},
                        {"masked", false, 5.95388, 0.146667, none},
                        {"masked", true, 6.1204, 0.103627, none},
                        {"repeat", false, 6.91628, 0.00605755, none},
                        {"recall", false, 7.17469, 0, none},
                        {"brackets", false, 6.69118, 0.0817132, none},
                        {"numbers", false, 7.02001, 0, none},
                        {"numbers", true, 7.0183, 0, none},
                        {"image", false, 1.93511, 0.55625, none},
                        {"image", true, 1.8776, 0.573864, none},
                        {"trajectory", false, 1.66337, 0.125, none}};
  const auto near = [](double got, double expected) {
    return std::isnan(expected) ? std::isnan(got) : std::abs(got - expected) < 5e-4;
  };
  for (const Case& c : cases) {
    TrainingPlan plan = varied_plan(c.id, folder.path());
    plan.batch = 5;  // does not divide the number of scored sequences
    if (plan.task == "numbers") plan.model.context = 44;  // numbers of four digits are sampled
    if (plan.task == "masked" && c.all) write_file(plan.text[0], random_words(9000, 3));
    const auto instance = task(c.id).make(plan);
    const Score score = instance->score(confident_checkpoint(plan, *instance), c.all);
    EXPECT_TRUE(near(score.loss, c.loss) && near(score.accuracy, c.accuracy) &&
                near(score.bits_per_byte, c.bits))
        << "{\"" << c.id << "\", " << (c.all ? "true" : "false") << ", " << score.loss << ", "
        << score.accuracy << ", " << score.bits_per_byte << "},";
  }
}

TEST(ImageTask, ShowsEveryImageOncePerEpoch) {
  const testing::TemporaryFolder folder;
  TrainingPlan plan = varied_plan("image", folder.path());
  plan.held_out_share = 0.28;  // 7 of 25
  const auto pictures = picture_ids(plan.text[0], plan.model);
  const std::set<std::vector<std::int32_t>> training(pictures.begin(), pictures.begin() + 18);
  ASSERT_EQ(training.size(), 18u);
  const auto instance = task("image").make(plan);
  std::vector<std::vector<std::int32_t>> order;
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    const Batch batch = instance->batch(epoch * 18, 18);
    std::vector<std::vector<std::int32_t>> shown;
    for (Index b = 0; b < 18; ++b) {
      const std::int32_t* row = batch.targets.data() + b * 16;
      shown.emplace_back(row, row + 16);
    }
    EXPECT_EQ(std::set(shown.begin(), shown.end()), training);
    EXPECT_NE(shown, order) << "the same order again";
    order = shown;
  }
  const Checkpoint checkpoint = confident_checkpoint(plan, *instance);
  // The last images are held out: all of them, or a sample.
  const auto loss_of = [&](std::size_t first, std::size_t last) {
    Tally tally;
    for (std::size_t n = first; n < last; ++n) {
      const Batch one = picture_batch({&pictures[n]}, plan.model);
      tally.add(forward(checkpoint.model, one.ids).value(), one.targets);
    }
    return tally.score().loss;
  };
  EXPECT_NEAR(instance->score(checkpoint, true).loss, loss_of(18, 25), 1e-4);
  plan.batch = 3;
  plan.score_batches = 1;
  EXPECT_NEAR(task("image").make(plan)->score(checkpoint, false).loss, loss_of(18, 21), 1e-4);
  plan.model.context = 16;
  EXPECT_NO_THROW(check(plan));
  plan.model.context = 15;
  EXPECT_THROW(check(plan), InputError);
}

// The input and the masked tokens together are a window of the text, a different one in each row.
TEST(MaskedTask, MasksTokensOfEveryRow) {
  const testing::TemporaryFolder folder;
  TrainingPlan plan = varied_plan("masked", folder.path());
  const std::string text = read_file(plan.text[0]);
  const auto instance = task("masked").make(plan);
  const Batch batch = instance->batch(0, 30);
  std::set<std::string> windows;
  double hidden = 0, masks = 0;
  for (Index b = 0; b < 30; ++b) {
    std::string window;
    for (Index i = 0; i < batch.ids.dim(1); ++i) {
      const std::int32_t target = batch.targets(b, i), shown = batch.ids(b, i);
      window += static_cast<char>(target >= 0 ? target : shown);
      hidden += target >= 0 ? 1 : 0;
      masks += shown == 256 ? 1 : 0;
    }
    const std::size_t at = text.find(window);
    EXPECT_LE(at + window.size(), text.size() - text.size() / 10) << window;  // not held out
    windows.insert(window);
  }
  EXPECT_EQ(windows.size(), 30u);
  EXPECT_NEAR(hidden / static_cast<double>(batch.ids.size()), 0.2, 0.06);
  EXPECT_NEAR(masks / hidden, 0.8, 0.12);
  // The tokenizer leaves the last id to the mask.
  EXPECT_EQ(instance->tokenizer()->vocabulary_size(), 256);
  plan.model.vocabulary = 270;
  plan.model.architecture.values.set("mask", Index{269});
  EXPECT_NO_THROW(check(plan));
  EXPECT_LE(task("masked").make(plan)->tokenizer()->vocabulary_size(), 269);
  // A mask without any other id.
  Batch one;
  one.ids = IntTensor({1, 50});
  one.targets = IntTensor({1, 50});
  Random random(4);
  mask_tokens(std::vector<std::int32_t>(50, 0).data(), {1.0, 0, 1}, random, 0, one);
  for (const std::int32_t id : one.ids) EXPECT_EQ(id, 0);
  for (const std::int32_t id : one.targets) EXPECT_EQ(id, 0);
}

// A held-out text of one token has nothing to predict; a text of two tokens has one target.
TEST(TextTask, ScoresTextsOfAtLeastTwoTokens) {
  const testing::TemporaryFolder folder;
  for (const char* id : {"text", "masked"}) {
    TrainingPlan plan = varied_plan(id, folder.path());
    plan.held_out_share = 0;
    plan.held_out = {folder.path() / "held.txt"};
    for (const bool two : {false, true}) {
      write_file(plan.held_out[0], two ? "ab" : "a");
      plan.score_batches = 50;  // so that some tokens are masked
      const auto instance = task(id).make(plan);
      const Score score = instance->score(confident_checkpoint(plan, *instance), false);
      EXPECT_EQ(std::isfinite(score.loss), two) << id << " " << score.loss;
    }
  }
  // Bits per byte of several texts are weighted by bytes; the loss is the mean of all batches.
  TrainingPlan plan = varied_plan("text", folder.path());
  plan.held_out = {folder.path() / "one.txt", folder.path() / "two.txt"};
  plan.held_out_share = 0;
  const std::string one = random_words(100, 8), two = random_words(33, 9);
  write_file(plan.held_out[0], one);
  write_file(plan.held_out[1], two);
  const auto instance = task("text").make(plan);
  const Checkpoint checkpoint = confident_checkpoint(plan, *instance);
  const double bits = bits_per_byte(checkpoint, one) * 100 + bits_per_byte(checkpoint, two) * 33;
  EXPECT_NEAR(instance->score(checkpoint, true).bits_per_byte, bits / 133, 1e-6);
  plan.score_batches = 0;
  const Score none = task("text").make(plan)->score(checkpoint, true);
  EXPECT_TRUE(std::isnan(none.loss));
  EXPECT_NEAR(none.bits_per_byte, bits / 133, 1e-6);
}

// Windows begin anywhere: over many epochs at the first token and, once, at the last possible one.
TEST(TokenStream, CoversBothEndsOfTheText) {
  for (const Index size : {9, 21, 50}) {
    std::vector<std::int32_t> tokens(static_cast<std::size_t>(size));
    for (Index n = 0; n < size; ++n) tokens[static_cast<std::size_t>(n)] = static_cast<int>(n);
    TokenStream stream(tokens, 4, 1);
    std::int32_t first_seen = 1000, last_seen = 0;
    for (std::uint64_t n = 0; n < 3000; ++n) {
      IntTensor inputs, targets;
      stream.batch(n, 1, inputs, targets);
      for (Index i = 0; i < 4; ++i) ASSERT_EQ(targets[i], inputs[i] + 1);
      first_seen = std::min(first_seen, inputs[0]);
      last_seen = std::max(last_seen, targets[3]);
    }
    EXPECT_EQ(first_seen, 0);
    EXPECT_EQ(last_seen, size - 1);
    IntTensor inputs, targets;
    Random random(1);
    random_windows(tokens, 3000, 4, random, inputs, targets);
    EXPECT_EQ(*std::ranges::min_element(inputs), 0);
    EXPECT_EQ(*std::ranges::max_element(targets), size - 1);
    for (Index n = 0; n < targets.size(); ++n) ASSERT_EQ(targets[n], inputs[n] + 1);
  }
}

// The loss of a step is that of the previous model on the step's sequences.
TEST(Trainer, UsesNextSequencesInEachStep) {
  const testing::TemporaryFolder folder;
  for (const Index part : {Index{0}, Index{2}}) {
    TrainingPlan plan = varied_plan("text", folder.path());
    plan.folder = folder.path() / ("model" + std::to_string(part));
    plan.micro_batch = part;
    Trainer trainer(plan);
    const auto instance = task("text").make(plan);
    for (std::uint64_t step = 0; step < 4; ++step) {
      const auto before = trainer.snapshot();
      const double loss = static_cast<double>(
          run(before->model, instance->batch(step * 8, 8), {}).losses[0].value.value()[0]);
      EXPECT_NEAR(trainer.step().loss, loss, 1e-5) << step;
    }
    trainer.save();
    // With a complete log there is nothing to report.
    EXPECT_EQ(Trainer(plan).note(), "");
  }
}

TEST(Train, ReportsRemainingTime) {
  const testing::TemporaryFolder folder;
  TrainingPlan plan = testing::tiny_plan(folder.path());
  plan.steps = 4;
  std::vector<double> seconds_left;
  train(plan, [&](const TrainingProgress& p) { seconds_left.push_back(p.seconds_left); });
  ASSERT_EQ(seconds_left.size(), 4u);
  for (std::size_t n = 0; n < 3; ++n) EXPECT_GT(seconds_left[n], 0);
  EXPECT_EQ(seconds_left[3], 0);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
