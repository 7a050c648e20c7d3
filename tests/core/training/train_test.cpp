#include "core/training/train.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/folder_lock.h"
#include "core/base/stop.h"
#include "core/checkpoint/checkpoint.h"
#include "core/checkpoint/snapshots.h"
#include "core/tensor/safetensors.h"
#include "core/training/evaluate.h"
#include "core/training/loss_log.h"
#include "core/training/trainer.h"
#include "tests/core/training/plans.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::TemporaryFolder;
using testing::tiny_plan;

// Trains until `stop_at` steps are complete, then requests a stop.
void train_until(const TrainingPlan& plan, Index stop_at) {
  const Stop stop;
  const StopScope scope(stop);
  const auto watch = [&](const TrainingProgress& p) {
    if (p.step == stop_at) stop.request();
  };
  EXPECT_THROW(train(plan, watch), Stopped);
}

void expect_same_weights(const TrainingPlan& a, const TrainingPlan& b) {
  const Checkpoint checkpoint_a = load_checkpoint(a.folder.string()),
                   checkpoint_b = load_checkpoint(b.folder.string());
  for (const auto& [name, weight] : checkpoint_a.model.weights) {
    EXPECT_TRUE(
        testing::close(checkpoint_b.model.weights.find(name)->second.value(), weight.value(), 0))
        << name;
  }
}

TEST(Train, LearnsRepeatingText) {
  const TemporaryFolder folder;
  const TrainingPlan plan = tiny_plan(folder.path());
  double first_loss = 0, last_loss = 0;
  Index reports = 0;
  const TrainingResult result = train(plan, [&](const TrainingProgress& p) {
    if (++reports == 1) first_loss = p.loss;
    last_loss = p.loss;
    EXPECT_EQ(p.step, reports);
    EXPECT_EQ(p.steps, plan.steps);
    EXPECT_GT(p.tokens_per_second, 0);
  });
  EXPECT_EQ(reports, plan.steps);
  EXPECT_NEAR(first_loss, std::log(256), 0.5);
  EXPECT_LT(last_loss, 0.15);
  EXPECT_EQ(result.loss, last_loss);
  EXPECT_LT(result.held_out.bits_per_byte, 0.5);
  // The saved model has the reported score.
  const std::string text = read_file(plan.text[0]);
  const std::string held_out = text.substr(text.size() - text.size() / 10);
  EXPECT_NEAR(bits_per_byte(load_checkpoint(plan.folder.string()), held_out),
              result.held_out.bits_per_byte, 1e-6);
}

TEST(Train, ResumesExactly) {
  const TemporaryFolder folder;
  TrainingPlan uninterrupted_plan = tiny_plan(folder.path());
  uninterrupted_plan.steps = 12;
  uninterrupted_plan.micro_batch = 4;
  uninterrupted_plan.model.dropout = 0.2;
  TrainingPlan interrupted_plan = uninterrupted_plan;
  interrupted_plan.folder = folder.path() / "parts";
  train(uninterrupted_plan, {});
  train_until(interrupted_plan, 5);
  train_until(interrupted_plan, 6);
  train(interrupted_plan, {});
  expect_same_weights(uninterrupted_plan, interrupted_plan);
  // Both logs have every step once, with equal losses.
  const auto losses = [](const TrainingPlan& plan) {
    std::istringstream lines(read_file(plan.folder / "loss.csv"));
    std::string line, result;
    while (std::getline(lines, line)) {
      result += line.substr(0, line.find(',', line.find(',') + 1)) + "\n";
    }
    return result;
  };
  EXPECT_EQ(losses(interrupted_plan), losses(uninterrupted_plan));
}

TEST(Train, LogsEveryStepOnce) {
  const TemporaryFolder folder;
  TrainingPlan plan = tiny_plan(folder.path());
  plan.steps = 6;
  plan.evaluate_every = 2;
  train_until(plan, 3);
  train_until(plan, 4);
  train(plan, {});
  LossLog log(plan.folder);
  log.load_steps(plan.steps);
  ASSERT_EQ(log.rows().size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(log.rows()[i].step, static_cast<Index>(i + 1));
    EXPECT_EQ(std::isnan(log.rows()[i].held_out.bits_per_byte), i % 2 == 0) << i;
    EXPECT_EQ(std::isnan(log.rows()[i].held_out.loss), i % 2 == 0) << i;
  }
  EXPECT_TRUE(std::filesystem::exists(plan.folder / "loss.png"));
}

TEST(Train, LeavesFinishedTrainingUnchanged) {
  const TemporaryFolder folder;
  TrainingPlan plan = tiny_plan(folder.path());
  plan.steps = 2;
  const TrainingResult first_result = train(plan, {});
  const TrainingResult second_result = train(plan, {});
  EXPECT_TRUE(std::isnan(second_result.loss));
  EXPECT_EQ(second_result.held_out.bits_per_byte, first_result.held_out.bits_per_byte);
}

TEST(Train, AccumulatesMicroBatches) {
  const TemporaryFolder folder;
  TrainingPlan plan = tiny_plan(folder.path());
  plan.steps = 3;
  TrainingPlan micro_batch_plan = plan;
  micro_batch_plan.micro_batch = 2;
  micro_batch_plan.folder = folder.path() / "parts";
  EXPECT_NEAR(train(plan, {}).loss, train(micro_batch_plan, {}).loss, 1e-4);
}

TEST(Train, CheckpointingKeepsTheWeights) {
  const TemporaryFolder folder;
  TrainingPlan plan = tiny_plan(folder.path());
  plan.steps = 4;
  plan.model.dropout = 0.1;
  TrainingPlan recomputing = plan;
  recomputing.checkpointing = true;
  recomputing.folder = folder.path() / "recomputing";
  train(plan, {});
  train(recomputing, {});
  expect_same_weights(plan, recomputing);
  TrainingPlan storing = recomputing;  // rounded layer inputs lead to other weights
  storing.bfloat_storage = true;
  storing.folder = folder.path() / "storing";
  EXPECT_TRUE(std::isfinite(train(storing, {}).loss));
  EXPECT_TRUE(training_plan_from_json(to_json(storing), "plan").bfloat_storage);
  storing.checkpointing = false;
  EXPECT_THROW(check(storing), InputError);
  recomputing.model.segment = 8;
  try {
    check(recomputing);
    FAIL();
  } catch (const InputError& e) {
    EXPECT_STREQ(e.what(), "checkpointing: expected no segment, found 8");
  }
}

TEST(Train, IsDeterministicInTheSeed) {
  const TemporaryFolder folder;
  TrainingPlan plan = tiny_plan(folder.path());
  plan.steps = 2;
  plan.model.dropout = 0.1;
  const double loss = train(plan, {}).loss;
  plan.folder = folder.path() / "again";
  EXPECT_EQ(train(plan, {}).loss, loss);
  plan.folder = folder.path() / "other";
  plan.seed = 2;
  EXPECT_NE(train(plan, {}).loss, loss);
}

TEST(Train, KeepsSnapshots) {
  const TemporaryFolder folder;
  TrainingPlan plan = tiny_plan(folder.path());
  plan.steps = 7;
  plan.snapshot_every = 3;
  // An earlier training's snapshot, of a step that this one does not reach.
  make_folder(snapshot_folder(plan.folder, 9));
  write_file(snapshot_folder(plan.folder, 9) / "config.json", "{}");
  train_until(plan, 4);
  EXPECT_EQ(snapshot_steps(plan.folder), (std::vector<Index>{0, 3}));
  train(plan, {});
  EXPECT_EQ(snapshot_steps(plan.folder), (std::vector<Index>{0, 3, 6, 7}));
  TrainingPlan last = plan, first = plan;
  last.folder = snapshot_folder(plan.folder, 7);
  expect_same_weights(plan, last);
  first.folder = snapshot_folder(plan.folder, 0);
  const Checkpoint start = load_checkpoint(first.folder.string());
  EXPECT_EQ(start.name, "model, step 0");
  EXPECT_NE(start.tokenizer, nullptr);
  Trainer fresh([&] {
    TrainingPlan elsewhere = plan;
    elsewhere.folder = folder.path() / "elsewhere";
    return elsewhere;
  }());
  const auto initial = fresh.snapshot();
  for (const auto& [name, weight] : initial->model.weights) {
    EXPECT_TRUE(testing::close(start.model.weights.find(name)->second.value(), weight.value(), 0))
        << name;
  }
}

TEST(Train, RejectsResumingAnotherPlan) {
  const TemporaryFolder folder;
  TrainingPlan plan = tiny_plan(folder.path());
  plan.steps = 2;
  train(plan, {});
  plan.learning_rate = 0.5;
  try {
    train(plan, {});
    FAIL() << "another plan was resumed";
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("other settings (rate"), std::string::npos) << e.what();
  }
}

TEST(Train, KeepsLastGoodModelAfterDivergence) {
  const TemporaryFolder folder;
  TrainingPlan plan = tiny_plan(folder.path());
  plan.save_every_seconds = 0;
  plan.learning_rate = 100;  // much too large at the end of the warm-up
  plan.weight_decay = 100;
  plan.clip = 0;
  try {
    train(plan, {});
    FAIL() << "the training did not diverge";
  } catch (const WorkError& e) {
    EXPECT_NE(std::string(e.what()).find("not finite"), std::string::npos) << e.what();
  }
  const Checkpoint saved = load_checkpoint(plan.folder.string());
  for (const auto& [name, weight] : saved.model.weights) {
    for (const float x : weight.value()) ASSERT_TRUE(std::isfinite(x)) << name;
  }
}

TEST(Train, RejectsBrokenStates) {
  const TemporaryFolder folder;
  TrainingPlan plan = tiny_plan(folder.path());
  plan.steps = 2;
  train(plan, {});
  const auto path = plan.folder / "training.safetensors";
  const std::string valid_state = read_file(path);
  write_file(path, valid_state.substr(0, valid_state.size() / 2));
  EXPECT_THROW(train(plan, {}), InputError);
  write_file(path, "");
  EXPECT_THROW(train(plan, {}), InputError);
}

// Expects that a state modified by `change` is rejected with `message`.
void expect_state_refused(const TrainingPlan& plan, const std::string& message,
                          const std::function<void(SafetensorsFile&)>& change) {
  const auto path = plan.folder / "training.safetensors";
  const std::string valid_state = read_file(path);
  SafetensorsFile file = read_safetensors(path);
  change(file);
  write_safetensors(path, file);
  try {
    train(plan, {});
    ADD_FAILURE() << "resumed, expected: " << message;
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find(message), std::string::npos) << e.what();
  }
  write_file(path, valid_state);
}

TEST(Train, RejectsIncompleteStatesAndUnknownEntries) {
  const TemporaryFolder folder;
  TrainingPlan plan = tiny_plan(folder.path());
  plan.steps = 2;
  train(plan, {});
  expect_state_refused(plan, "expected the moments of", [](SafetensorsFile& file) {
    file.tensors.erase("first:embed.weight");
    file.tensors.erase("second:embed.weight");
  });
  expect_state_refused(plan, "the moments of embed.weight do not match",
                       [](SafetensorsFile& file) { file.tensors.erase("second:embed.weight"); });
  expect_state_refused(
      plan, "weight another does not belong to this model", [](SafetensorsFile& file) {
        file.tensors.emplace("weight:another", file.tensors.at("weight:embed.weight"));
      });
  expect_state_refused(plan, "weight embed.weight: expected", [](SafetensorsFile& file) {
    for (const char* kind : {"weight:", "first:", "second:"}) {
      file.tensors.erase(std::string(kind) + "embed.weight");
    }
    file.metadata["moments"] = std::to_string(std::stoi(file.metadata["moments"]) - 1);
  });
  expect_state_refused(plan, "metadata moments is missing",
                       [](SafetensorsFile& file) { file.metadata.erase("moments"); });
  EXPECT_NO_THROW(train(plan, {}));
}

TEST(Train, ReportsMissingStepsOfTheLog) {
  const TemporaryFolder folder;
  TrainingPlan plan = tiny_plan(folder.path());
  plan.steps = 2;
  const std::size_t notes = train(plan, {}).notes.size();
  const auto log = plan.folder / "loss.csv";
  std::filesystem::remove(log);
  const std::vector<std::string> notes_without_log = train(plan, {}).notes;
  ASSERT_EQ(notes_without_log.size(), notes + 1);
  EXPECT_EQ(notes_without_log.back(), log.string() + ": the rows of steps 1 to 2 are missing");
}

TEST(Train, LocksItsFolder) {
  const TemporaryFolder folder;
  TrainingPlan plan = tiny_plan(folder.path());
  plan.steps = 2;
  {
    const FolderLock other(plan.folder, "training");
    try {
      train(plan, {});
      FAIL() << "two trainings use one folder";
    } catch (const InputError& e) {
      EXPECT_EQ(std::string(e.what()), plan.folder.string() + ": in use by another training");
    }
  }
  EXPECT_FALSE(std::filesystem::exists(plan.folder)) << "an empty folder remains";
  EXPECT_NO_THROW(train(plan, {}));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
