// Trainings that start from another model: kept, initialised and frozen weights, and retrieval.
#include "core/training/start_model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/model/exits.h"
#include "core/model/weights.h"
#include "core/position/sinusoid.h"
#include "core/tensor/safetensors.h"
#include "core/training/evaluate.h"
#include "core/training/trainer.h"
#include "tests/core/training/plans.h"
#include "tests/support/compare.h"
#include "tests/support/places.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::TemporaryFolder;
using testing::tiny_plan;

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

Choice default_choice_of(const Info& info) {
  return {info.id, default_values(info.parameters)};
}

// Trains a small model once; `plan()` starts from it.
class StartModel : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    TrainingPlan plan = tiny_plan(folder_->path());
    plan.folder = folder_->path() / "start";
    plan.steps = 30;
    plan.model.groups =
        uniform_groups(plan.model, default_variant(), default_choice_of(encoding("t5")));
    loss_ = train(plan, {}).loss;
    plan_ = new TrainingPlan(plan);
  }
  static void TearDownTestSuite() {
    delete plan_;
    delete folder_;
  }

  static TrainingPlan plan(const std::string& name) {
    TrainingPlan plan = *plan_;
    plan.from = plan_->folder.string();
    plan.folder = folder_->path() / name;
    plan.steps = 4;
    plan.warm_up = 1;
    return plan;
  }
  static Checkpoint start() { return load_checkpoint(plan_->folder.string()); }
  static Tensor weight(const Checkpoint& checkpoint, const std::string& name) {
    return checkpoint.model.weights.find(name)->second.value();
  }
  static std::string refusal(const TrainingPlan& plan) {
    try {
      Trainer trainer(plan);
    } catch (const InputError& e) {
      return e.what();
    }
    return "no refusal";
  }

  static TemporaryFolder* folder_;
  static TrainingPlan* plan_;
  static double loss_;
};
TemporaryFolder* StartModel::folder_ = nullptr;
TrainingPlan* StartModel::plan_ = nullptr;
double StartModel::loss_ = 0;

TEST_F(StartModel, ContinuesWithTheLossOfTheStart) {
  const TrainingPlan continued = plan("continued");
  EXPECT_TRUE(loss_ < 2) << loss_;  // a new model begins near log 256 = 5.5
  Trainer trainer(continued);
  EXPECT_NEAR(trainer.step().loss, loss_, 0.5);
  ASSERT_EQ(trainer.start_notes().size(), 1u);
  EXPECT_EQ(trainer.start_notes().front().find("initialised"), std::string::npos);
}

TEST_F(StartModel, KeepsWeightsOfEqualNameShapeAndOwner) {
  TrainingPlan changed = plan("changed");
  // T5 and the bias by relative position share the weight name pos.bias.
  changed.model.groups =
      uniform_groups(changed.model, default_variant(), default_choice_of(encoding("rope")));
  changed.model.exits = default_choice_of(exit_rule("multinomial"));
  changed.model.hidden += 16;
  Model model = make_model(changed.model, 1);
  const StartedWeights weights = take_weights(start(), model);
  for (const char* name : {"embed.weight", "layers.0.attn.wq", "layers.1.attn_norm.weight"}) {
    EXPECT_TRUE(contains(weights.kept, name)) << name;
    EXPECT_TRUE(testing::close(model.weights.find(name)->second.value(), weight(start(), name), 0))
        << name;
  }
  EXPECT_EQ(weights.initial, (std::vector<std::string>{"layers.0.ffn.w_gate", "layers.0.ffn.w_in",
                                                       "layers.0.ffn.w_out", "layers.1.ffn.w_gate",
                                                       "layers.1.ffn.w_in", "layers.1.ffn.w_out",
                                                       "exit.w", "exit.b"}));
  EXPECT_TRUE(contains(weights.unused, "layers.0.groups.0.pos.bias"));
  EXPECT_EQ(describe(weights, "start"),
            "starts from start: " + std::to_string(weights.kept.size()) +
                " weights kept; initialised: layers.*.ffn.w_gate, layers.*.ffn.w_in, "
                "layers.*.ffn.w_out, exit.w, exit.b; not used: layers.*.ffn.w_gate, "
                "layers.*.ffn.w_in, layers.*.ffn.w_out, layers.*.groups.*.pos.bias");
}

TEST_F(StartModel, FreezesWeightsThatNoPatternNames) {
  TrainingPlan frozen = plan("frozen");
  frozen.model.exits = default_choice_of(exit_rule("sequence"));
  frozen.train_only = {"exit.*"};
  Trainer trainer(frozen);
  EXPECT_EQ(trainer.start_notes().back().substr(0, 11), "trains 2 of");
  const auto before = trainer.snapshot();
  for (int n = 0; n < 3; ++n) trainer.step();
  const auto after = trainer.snapshot();
  for (const auto& [name, value] : before->model.weights) {
    if (name.starts_with("exit.")) {
      EXPECT_TRUE(testing::differs(weight(*after, name), value.value(), 1e-6)) << name;
    } else {
      EXPECT_TRUE(testing::close(weight(*after, name), value.value(), 0)) << name;
    }
  }
}

TEST_F(StartModel, LearnsTheBaseOfSinusoids) {
  TrainingPlan based = plan("based");
  Choice sinusoidal = default_choice_of(encoding("sinusoidal"));
  sinusoidal.values.set("learned_base", true);
  based.model.groups = uniform_groups(based.model, default_variant(), sinusoidal);
  Trainer trainer(based);
  const double first_base =
      *learned_base(weights_below(trainer.snapshot()->model.weights, "embed."));
  EXPECT_NEAR(first_base, 10000, 0.1);
  for (int n = 0; n < 3; ++n) trainer.step();
  const double base = *learned_base(weights_below(trainer.snapshot()->model.weights, "embed."));
  EXPECT_TRUE(std::abs(base - first_base) > 1 && std::abs(base - first_base) < 2000) << base;
}

TEST_F(StartModel, ResumesExactly) {
  TrainingPlan whole = plan("whole"), parts = plan("parts");
  for (TrainingPlan* p : {&whole, &parts}) {
    p->model.exits = default_choice_of(exit_rule("geometric"));
    p->train_only = {"exit.*", "layers.1.*"};
    p->model.dropout = 0.1;
  }
  Trainer uninterrupted(whole);
  while (!uninterrupted.is_done()) uninterrupted.step();
  {
    Trainer interrupted(parts);
    interrupted.step();
    interrupted.save();
  }
  Trainer resumed(parts);
  EXPECT_EQ(resumed.steps_done(), 1);
  EXPECT_TRUE(resumed.start_notes().empty());
  while (!resumed.is_done()) resumed.step();
  const auto expected = uninterrupted.snapshot(), got = resumed.snapshot();
  for (const auto& [name, value] : expected->model.weights) {
    EXPECT_TRUE(testing::close(weight(*got, name), value.value(), 0)) << name;
  }
  TrainingPlan other = parts;
  other.from.clear();
  EXPECT_NE(refusal(other).find("other settings (from"), std::string::npos) << refusal(other);
}

TEST_F(StartModel, RejectsWhatItCannotTrain) {
  TrainingPlan other = plan("refused");
  other.model.vocabulary = 300;
  EXPECT_NE(refusal(other).find("model.vocabulary: expected "), std::string::npos);
  other = plan("refused");
  other.train_only = {"exit.*"};
  EXPECT_NE(refusal(other).find("train_only: expected names"), std::string::npos);
  other = plan("refused");
  other.from = (testing::source_folder() / "tests" / "gguf" / "gpt2.gguf").string();
  other.model = load_checkpoint(other.from).model.config;
  EXPECT_NE(refusal(other).find("with a tokenizer"), std::string::npos) << refusal(other);
  other = plan("refused");
  other.from.clear();
  other.retrieval = RetrievalChoice{default_choice_of(retrieval_head("knn")), "absent"};
  EXPECT_NE(refusal(other).find("retrieval: expected a model"), std::string::npos);
}

// A fresh model with the weights of a file of another library computes as the file does.
TEST_F(StartModel, TakesWeightsOfGgufFiles) {
  const auto file = testing::source_folder() / "tests" / "gguf";
  TrainingPlan gguf = plan("gguf");
  gguf.from = (file / "llama.gguf").string();
  gguf.model = load_checkpoint(gguf.from).model.config;
  const auto checkpoint = start_checkpoint(gguf);
  Model model = make_model(gguf.model, 1);
  EXPECT_TRUE(take_weights(*checkpoint, model).initial.empty());
  const IntTensor ids = IntTensor::from({1, 4}, {1, 2, 3, 4});
  EXPECT_TRUE(
      testing::close(forward(model, ids).value(), forward(checkpoint->model, ids).value(), 1e-5));
  gguf.from = (file / "gpt2.q8_0.gguf").string();
  gguf.model = load_checkpoint(gguf.from).model.config;
  try {
    start_checkpoint(gguf);
    FAIL() << "quantised weights are trained";
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("Q8_0"), std::string::npos) << e.what();
  }
}

// Store of random contexts in the file `name`.
std::string random_store(const std::filesystem::path& file, Index width) {
  Random random(3);
  Store store{Tensor({40, width}), IntTensor({40}), IntTensor::zeros({40, 2})};
  for (float& x : store.keys) x = static_cast<float>(random.normal());
  for (std::int32_t& id : store.values) id = static_cast<std::int32_t>(random.below(256));
  write_safetensors(file, store_file(store, false));
  return file.string();
}

// The random store misleads, so that the gate learns to trust the model.
TEST_F(StartModel, TrainsTheGateOfRetrieval) {
  TrainingPlan gated = plan("gated");
  gated.steps = 12;
  gated.learning_rate = 0.1;
  gated.retrieval = RetrievalChoice{default_choice_of(retrieval_head("spalm")),
                                    random_store(folder_->path() / "store.safetensors", 32)};
  gated.train_only = {"spalm.w"};
  Trainer trainer(gated);
  const double first_loss = trainer.step().loss;
  double last_loss = first_loss;
  while (!trainer.is_done()) last_loss = trainer.step().loss;
  EXPECT_LT(last_loss, 0.9 * first_loss);
  const auto trained = trainer.snapshot();
  EXPECT_TRUE(testing::close(weight(*trained, "embed.weight"), weight(start(), "embed.weight"), 0));

  // The gate is saved, and evaluation uses the mixture.
  trainer.save();
  const Checkpoint saved = load_checkpoint(gated.folder.string());
  EXPECT_TRUE(testing::close(weight(saved, "spalm.w"), weight(*trained, "spalm.w"), 0));
  const Retrieval retrieval(*gated.retrieval,
                            std::make_shared<const Store>(load_store(gated.retrieval->store)),
                            saved.model.config);
  const std::string text = "the cat sat";
  Batch batch;
  batch.ids = IntTensor({1, static_cast<Index>(text.size()) - 1});
  for (Index i = 0; i < batch.ids.size(); ++i) batch.ids[i] = text[static_cast<std::size_t>(i)];
  ForwardOptions options;
  options.retrieval = &retrieval;
  const Tensor log_probabilities = run(saved.model, batch, options).log_probabilities;
  double nats = std::log(256);
  for (Index i = 0; i < batch.ids.size(); ++i) {
    nats -= static_cast<double>(log_probabilities(i, text[static_cast<std::size_t>(i + 1)]));
  }
  const Evaluation result = evaluate_text(saved, text, {.retrieval = &retrieval});
  EXPECT_NEAR(result.bits_per_byte(), nats / std::log(2) / static_cast<double>(text.size()), 1e-5);
}

TEST(WeightPatterns, MatchAnyTextAtStars) {
  const std::vector<std::string> names{"embed.weight", "layers.0.attn.wq", "layers.1.attn.wq",
                                       "layers.1.ffn.w_in"};
  EXPECT_EQ(matching_names({}, names).size(), 4u);
  EXPECT_EQ(matching_names({"layers.*"}, names).size(), 3u);
  EXPECT_EQ(matching_names({"layers.*.attn.*", "embed.weight"}, names).size(), 3u);
  EXPECT_EQ(matching_names({"*.wq"}, names), (std::set<std::string>{names[1], names[2]}));
  EXPECT_THROW(matching_names({"layers"}, names), InputError);
  EXPECT_EQ(weight_groups(names), "embed.weight, layers.*.attn.wq, layers.*.ffn.w_in");
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
