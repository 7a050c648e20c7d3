// Generated data and scores of tasks. Equal seeds give equal data on every machine and in every
// version, so that newer versions can resume trainings and scores can be compared.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

#include "core/base/error.h"
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

std::string join_row(const IntTensor& ids, Index row) {
  std::string line;
  for (Index i = 0; i < ids.dim(1); ++i) line += ' ' + std::to_string(ids(row, i));
  return line;
}

// A text of `size` bytes that consists of words of random letters.
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

// Writes a CSV table of `count` different images of 4 x 4 pixels.
void write_table(const std::filesystem::path& file, int count) {
  std::string table;
  for (int n = 0; n < count; ++n) {
    for (int bit = 0; bit < 16; ++bit) table += std::to_string((n * 37 + 11) >> bit & 1) + ",";
    table += "0\n";
  }
  write_file(file, table);
}

// A plan whose input files do not repeat.
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
    if (info.has_continuous_actions) continue;  // tested in plane_test.cpp
    const bool is_tested_by_rule = info.id == "induction" || info.id == "associative" ||
                                   info.id == "reverse" || info.id == "sort";
    if (is_tested_by_rule) continue;  // drawn_tasks_test.cpp
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
          if (ids->defined()) text += std::string("  ") + name + join_row(*ids, b) + "\n";
        }
      }
    }
  }
  EXPECT_TRUE(testing::matches_golden(text, "core/training/batches.txt"));
}

// An untrained model with scaled embedding and output weights, so that predictions are far from
// uniform.
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
    bool use_all;
    double loss, accuracy, bits;  // NaN if missing
  };
  constexpr double missing = std::numeric_limits<double>::quiet_NaN();
  const Case cases[] = {{"text", false, 6.99799, missing, 9.96615},
                        {"text", true, 6.99799, missing, 9.96615},
                        {"masked", false, 5.95388, 0.146667, missing},
                        {"masked", true, 6.1204, 0.103627, missing},
                        {"repeat", false, 6.91628, 0.00605755, missing},
                        {"recall", false, 7.17469, 0, missing},
                        {"brackets", false, 6.69118, 0.0817132, missing},
                        {"numbers", false, 7.02001, 0, missing},
                        {"numbers", true, 7.0183, 0, missing},
                        {"image", false, 1.93511, 0.55625, missing},
                        {"image", true, 1.8776, 0.573864, missing},
                        {"trajectory", false, 1.66337, 0.125, missing},
                        {"steering", false, 0.58249, 0, missing}};
  const auto is_near = [](double actual, double expected) {
    return std::isnan(expected) ? std::isnan(actual) : std::abs(actual - expected) < 5e-4;
  };
  for (const Case& c : cases) {
    TrainingPlan plan = varied_plan(c.id, folder.path());
    plan.batch = 5;  // does not divide the number of scored sequences
    if (plan.task == "numbers") plan.model.context = 44;  // numbers of four digits are sampled
    if (plan.task == "masked" && c.use_all) write_file(plan.text[0], random_words(9000, 3));
    const auto instance = task(c.id).make(plan);
    const Score score = instance->score(confident_checkpoint(plan, *instance), c.use_all);
    EXPECT_TRUE(is_near(score.loss, c.loss) && is_near(score.accuracy, c.accuracy) &&
                is_near(score.bits_per_byte, c.bits))
        << "{\"" << c.id << "\", " << (c.use_all ? "true" : "false") << ", " << score.loss << ", "
        << score.accuracy << ", " << score.bits_per_byte << "},";
  }
}

TEST(ImageTask, ShowsEveryImageOncePerEpoch) {
  const testing::TemporaryFolder folder;
  TrainingPlan plan = varied_plan("image", folder.path());
  plan.held_out_share = 0.28;  // the last 7 of 25 images
  const auto pictures = picture_ids(plan.text[0], plan.model);
  const std::set<std::vector<std::int32_t>> training(pictures.begin(), pictures.begin() + 18);
  ASSERT_EQ(training.size(), 18u);
  const auto instance = task("image").make(plan);
  std::vector<std::vector<std::int32_t>> previous_pictures;
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    const Batch batch = instance->batch(epoch * 18, 18);
    std::vector<std::vector<std::int32_t>> epoch_pictures;
    for (Index b = 0; b < 18; ++b) {
      const std::int32_t* row = batch.targets.data() + b * 16;
      epoch_pictures.emplace_back(row, row + 16);
    }
    EXPECT_EQ(std::set(epoch_pictures.begin(), epoch_pictures.end()), training);
    EXPECT_NE(epoch_pictures, previous_pictures) << "the same order again";
    previous_pictures = epoch_pictures;
  }
  const Checkpoint checkpoint = confident_checkpoint(plan, *instance);
  // The last images are held out. The score uses all of them or `score_batches` batches.
  const auto held_out_loss = [&](std::size_t first, std::size_t last) {
    Tally tally;
    for (std::size_t n = first; n < last; ++n) {
      const Batch batch_of_one = picture_batch({&pictures[n]}, plan.model);
      tally.add(forward(checkpoint.model, batch_of_one.ids).value(), batch_of_one.targets);
    }
    return tally.score().loss;
  };
  EXPECT_NEAR(instance->score(checkpoint, true).loss, held_out_loss(18, 25), 1e-4);
  plan.batch = 3;
  plan.score_batches = 1;
  EXPECT_NEAR(task("image").make(plan)->score(checkpoint, false).loss, held_out_loss(18, 21), 1e-4);
  plan.model.context = 16;
  EXPECT_NO_THROW(check(plan));
  plan.model.context = 15;
  EXPECT_THROW(check(plan), InputError);
}

// Global tokens precede every row. They are neither targets nor random replacements.
TEST(MaskedTask, PutsGlobalTokensBeforeEveryRow) {
  const testing::TemporaryFolder folder;
  TrainingPlan plan = varied_plan("masked", folder.path());
  plan.model.input = {"global_text", {}};
  plan.model.input.values.set("global", Index{3});
  plan.model.input.values.set("contrastive", 0.0);
  plan.model.vocabulary += 3;
  ASSERT_NO_THROW(check(plan));
  const auto instance = task("masked").make(plan);
  EXPECT_EQ(instance->config(plan.model).vocabulary, 260);
  const Batch batch = instance->batch(0, 40);
  ASSERT_EQ(batch.ids.shape(), (Shape{40, sequence_length(plan)}));
  ASSERT_EQ(batch.targets.shape(), batch.ids.shape());
  Index target_count = 0;
  for (Index b = 0; b < 40; ++b) {
    for (Index i = 0; i < batch.ids.dim(1); ++i) {
      if (i < 3) {
        EXPECT_EQ(batch.ids(b, i), 257 + i);
        EXPECT_EQ(batch.targets(b, i), -1);
      } else {
        EXPECT_LT(batch.ids(b, i), 257);
      }
      target_count += batch.targets(b, i) >= 0 ? 1 : 0;
    }
  }
  EXPECT_GT(target_count, 0);
  plan.sequence = 3;
  EXPECT_THROW(check(plan), InputError);
  plan.sequence = 0;
  plan.model.architecture.values.set("mask", Index{257});  // a global token
  EXPECT_THROW(check(plan), InputError);
}

// Each row is a different window of the training text, which the visible tokens of the input and
// the masked tokens of the targets form together.
TEST(MaskedTask, MasksTokensOfEveryRow) {
  const testing::TemporaryFolder folder;
  TrainingPlan plan = varied_plan("masked", folder.path());
  const std::string text = read_file(plan.text[0]);
  const auto instance = task("masked").make(plan);
  const Batch batch = instance->batch(0, 30);
  std::set<std::string> windows;
  double target_count = 0, mask_count = 0;
  for (Index b = 0; b < 30; ++b) {
    std::string window;
    for (Index i = 0; i < batch.ids.dim(1); ++i) {
      const std::int32_t target = batch.targets(b, i), visible_id = batch.ids(b, i);
      window += static_cast<char>(target >= 0 ? target : visible_id);
      target_count += target >= 0 ? 1 : 0;
      mask_count += visible_id == 256 ? 1 : 0;
    }
    const std::size_t position = text.find(window);
    EXPECT_LE(position + window.size(), text.size() - text.size() / 10) << window;  // not held out
    windows.insert(window);
  }
  EXPECT_EQ(windows.size(), 30u);
  EXPECT_NEAR(target_count / static_cast<double>(batch.ids.size()), 0.2, 0.06);
  EXPECT_NEAR(mask_count / target_count, 0.8, 0.12);
  // The last id is reserved for the mask token.
  EXPECT_EQ(instance->tokenizer()->vocabulary_size(), 256);
  plan.model.vocabulary = 270;
  plan.model.architecture.values.set("mask", Index{269});
  EXPECT_NO_THROW(check(plan));
  EXPECT_LE(task("masked").make(plan)->tokenizer()->vocabulary_size(), 269);
  // A vocabulary that consists of the mask token only.
  Batch single_id_batch;
  single_id_batch.ids = IntTensor({1, 50});
  single_id_batch.targets = IntTensor({1, 50});
  Random random(4);
  mask_tokens(std::vector<std::int32_t>(50, 0).data(), {1.0, 0, 1}, random, 0, single_id_batch);
  for (const std::int32_t id : single_id_batch.ids) EXPECT_EQ(id, 0);
  for (const std::int32_t id : single_id_batch.targets) EXPECT_EQ(id, 0);
}

// A held-out text of one token has nothing to predict; a text of two tokens has one target.
TEST(TextTask, ScoresTextsOfAtLeastTwoTokens) {
  const testing::TemporaryFolder folder;
  for (const char* id : {"text", "masked"}) {
    TrainingPlan plan = varied_plan(id, folder.path());
    plan.held_out_share = 0;
    plan.held_out = {folder.path() / "held.txt"};
    for (const bool has_two_tokens : {false, true}) {
      write_file(plan.held_out[0], has_two_tokens ? "ab" : "a");
      plan.score_batches = 50;  // so that some tokens are masked
      const auto instance = task(id).make(plan);
      const Score score = instance->score(confident_checkpoint(plan, *instance), false);
      EXPECT_EQ(std::isfinite(score.loss), has_two_tokens) << id << " " << score.loss;
    }
  }
  // The bits per byte of several texts are weighted by their bytes. Without batches, the loss is
  // NaN.
  TrainingPlan plan = varied_plan("text", folder.path());
  plan.held_out = {folder.path() / "one.txt", folder.path() / "two.txt"};
  plan.held_out_share = 0;
  const std::string first_text = random_words(100, 8), second_text = random_words(33, 9);
  write_file(plan.held_out[0], first_text);
  write_file(plan.held_out[1], second_text);
  const auto instance = task("text").make(plan);
  const Checkpoint checkpoint = confident_checkpoint(plan, *instance);
  const double bits =
      bits_per_byte(checkpoint, first_text) * 100 + bits_per_byte(checkpoint, second_text) * 33;
  EXPECT_NEAR(instance->score(checkpoint, true).bits_per_byte, bits / 133, 1e-6);
  plan.score_batches = 0;
  const Score score = task("text").make(plan)->score(checkpoint, true);
  EXPECT_TRUE(std::isnan(score.loss));
  EXPECT_NEAR(score.bits_per_byte, bits / 133, 1e-6);
}

// Over many epochs, windows include the first and the last token of the text.
TEST(TokenStream, CoversBothEndsOfTheText) {
  for (const Index size : {9, 21, 50}) {
    std::vector<std::int32_t> tokens(static_cast<std::size_t>(size));
    for (Index n = 0; n < size; ++n) tokens[static_cast<std::size_t>(n)] = static_cast<int>(n);
    TokenStream stream(tokens, 4, 1);
    std::int32_t min_input = 1000, max_target = 0;
    for (std::uint64_t n = 0; n < 3000; ++n) {
      IntTensor inputs, targets;
      stream.batch(n, 1, inputs, targets);
      for (Index i = 0; i < 4; ++i) ASSERT_EQ(targets[i], inputs[i] + 1);
      min_input = std::min(min_input, inputs[0]);
      max_target = std::max(max_target, targets[3]);
    }
    EXPECT_EQ(min_input, 0);
    EXPECT_EQ(max_target, size - 1);
    IntTensor inputs, targets;
    Random random(1);
    random_windows(tokens, 3000, 4, random, inputs, targets);
    EXPECT_EQ(*std::ranges::min_element(inputs), 0);
    EXPECT_EQ(*std::ranges::max_element(targets), size - 1);
    for (Index n = 0; n < targets.size(); ++n) ASSERT_EQ(targets[n], inputs[n] + 1);
  }
}

// The reported loss of a step is the loss of the model before the step, on the sequences of the
// step.
TEST(Trainer, UsesNextSequencesInEachStep) {
  const testing::TemporaryFolder folder;
  for (const Index micro_batch : {Index{0}, Index{2}}) {
    TrainingPlan plan = varied_plan("text", folder.path());
    plan.folder = folder.path() / ("model" + std::to_string(micro_batch));
    plan.micro_batch = micro_batch;
    Trainer trainer(plan);
    const auto instance = task("text").make(plan);
    for (std::uint64_t step = 0; step < 4; ++step) {
      const auto snapshot = trainer.snapshot();
      const double loss = static_cast<double>(
          run(snapshot->model, instance->batch(step * 8, 8), {}).losses[0].value.value()[0]);
      EXPECT_NEAR(trainer.step().loss, loss, 1e-5) << step;
    }
    trainer.save();
    // A complete log causes no warning.
    EXPECT_EQ(Trainer(plan).log_warning(), "");
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
