#include "core/experiment/runner.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "core/base/error.h"
#include "core/model/architecture.h"
#include "core/model/exits.h"
#include "core/model/join.h"
#include "core/model/logit_lens.h"
#include "core/model/weights.h"
#include "tests/core/experiment/models.h"
#include "tests/core/experiment/tasks.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using Clock = std::chrono::steady_clock;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kSlower = 10;  // than without sanitizers
#else
constexpr int kSlower = 1;
#endif

// A quick model and one that is busy for seconds.
class RunnerTest : public ::testing::Test {
 protected:
  RunnerTest() {
    testing::save_byte_model(folder_.path() / "quick", 1, 16, 12);
    testing::save_byte_model(folder_.path() / "slow", 48, 256, 2048);
  }

  Experiment quick(const std::string& text) const {
    Experiment e;
    e.model = (folder_.path() / "quick").string();
    e.text = text;
    return e;
  }
  Experiment slow() const {
    Experiment e;
    e.model = (folder_.path() / "slow").string();
    e.text = std::string(2048, 'x');
    return e;
  }

  // Waits for an outcome; false after half a minute (of a program without sanitizers).
  bool wait(Runner::Outcome& outcome) {
    const auto deadline = Clock::now() + std::chrono::seconds(30 * kSlower);
    std::unique_lock lock(mutex_);
    while (!runner_.poll(outcome)) {
      if (woken_.wait_until(lock, deadline) == std::cv_status::timeout) return false;
    }
    return true;
  }
  void wait_until_running() {
    while (runner_.busy_seconds() < 0.2) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  double milliseconds_until_idle() {
    const auto start = Clock::now();
    while (runner_.busy()) std::this_thread::sleep_for(std::chrono::microseconds(200));
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
  }

  testing::TemporaryFolder folder_;
  std::mutex mutex_;
  std::condition_variable woken_;
  Runner runner_{cpu_only(), [this] {
                   const std::scoped_lock lock(mutex_);
                   woken_.notify_all();
                 }};
};

const std::vector<std::string> kBeside = {Findings::reference.id};

TEST_F(RunnerTest, CarriesOutARequest) {
  Runner::Outcome outcome;
  EXPECT_FALSE(runner_.poll(outcome));
  runner_.request(quick("abc"));
  ASSERT_TRUE(wait(outcome));
  ASSERT_NE(outcome.trace, nullptr) << outcome.error;
  EXPECT_EQ(outcome.trace->tokens.size(), 3u);
  EXPECT_EQ(outcome.experiment, quick("abc"));
  EXPECT_FALSE(runner_.poll(outcome));
}

TEST_F(RunnerTest, RunsBothOfAComparison) {
  ExperimentRun run{cpu_only()};
  Experiment both = quick("abc");
  both.others.push_back(quick("abcd"));
  const Traces first = run.observe(both, kBeside, Stop());
  EXPECT_EQ(first.trace->tokens.size(), 3u);
  ASSERT_NE(first.reference(), nullptr);
  EXPECT_EQ(first.reference()->tokens.size(), 4u);

  both.text = "ab";  // the other one is not run again
  const Traces second = run.observe(both, kBeside, Stop());
  EXPECT_EQ(second.trace->tokens.size(), 2u);
  EXPECT_EQ(second.reference(), first.reference());
  EXPECT_EQ(run.observe(quick("abc"), kBeside, Stop()).reference(), nullptr);
}

TEST_F(RunnerTest, WorksOutWhatAViewReads) {
  ExperimentRun run{cpu_only()};
  Experiment experiment = quick("abc");
  const Traces plain = run.observe(experiment, {}, Stop());
  EXPECT_EQ(plain.findings.get(Findings::lens), nullptr);
  const Traces deep = run.observe(experiment, {"lens"}, Stop());
  const auto lens = deep.findings.get(Findings::lens);
  ASSERT_NE(lens, nullptr);
  EXPECT_EQ(lens->guess.dim(1), 3);
  // The pass itself was not repeated, and what was worked out is kept, also for views that do not
  // read it.
  EXPECT_EQ(deep.trace, plain.trace);
  for (const auto& names : {std::vector<std::string>{"lens"}, std::vector<std::string>{}}) {
    EXPECT_EQ(run.observe(experiment, names, Stop()).findings.get(Findings::lens), lens);
  }
  experiment.text = "abcd";
  EXPECT_EQ(run.observe(experiment, {}, Stop()).findings, Findings());
}

// What stands beside a run may be looked at alone: with what the view reads.
TEST_F(RunnerTest, WorksOutTheSameOfARunThatIsComparedWith) {
  ExperimentRun run{cpu_only()};
  Experiment both = quick("abc");
  both.others.push_back(quick("abcd"));
  const Traces traces = run.observe(both, {"lens", "reference"}, Stop());
  const auto beside = traces.findings.get(Findings::reference);
  ASSERT_NE(beside, nullptr);
  ASSERT_TRUE(beside->findings.has("lens"));
  EXPECT_EQ(beside->findings.get(Findings::lens)->guess.dim(1), 4);
  EXPECT_FALSE(beside->findings.has("reference"));
  // Another one to compare with takes its place, and then none.
  both.others.front().text = "ab";
  EXPECT_EQ(run.observe(both, kBeside, Stop()).reference()->tokens.size(), 2u);
  both.others.clear();
  EXPECT_EQ(run.observe(both, kBeside, Stop()).reference(), nullptr);
}

TEST_F(RunnerTest, RunsWithAndWithoutInterventions) {
  ExperimentRun run{cpu_only()};
  Experiment experiment = quick("abc");
  experiment.interventions = {intervention_from_text("replace position=1 text=x"),
                              intervention_from_text("off layer=0")};
  const Traces traces = run.observe(experiment, kBeside, Stop());
  ASSERT_NE(traces.reference(), nullptr);
  EXPECT_EQ(traces.trace->tokens[1].label, "x");
  EXPECT_EQ(traces.reference()->tokens[1].label, "b");
  EXPECT_EQ(traces.trace->tokens[1].begin, 1u);
  experiment.interventions = {intervention_from_text("replace position=1 text=xy")};
  EXPECT_THROW(run.run(experiment, Stop()), InputError);  // two tokens
  experiment.interventions = {intervention_from_text("replace position=3 text=x")};
  EXPECT_THROW(run.run(experiment, Stop()), InputError);  // there are three
}

TEST_F(RunnerTest, ReportsErrors) {
  Runner::Outcome outcome;
  runner_.request(quick(""));
  ASSERT_TRUE(wait(outcome));
  EXPECT_EQ(outcome.trace, nullptr);
  EXPECT_NE(outcome.error.find("empty"), std::string::npos);
}

TEST_F(RunnerTest, TheNewestRequestWins) {
  runner_.request(slow());
  wait_until_running();
  runner_.request(quick("one"));
  runner_.request(quick("three"));
  Runner::Outcome outcome;
  ASSERT_TRUE(wait(outcome));
  ASSERT_NE(outcome.trace, nullptr);
  EXPECT_EQ(outcome.experiment.text, "three");
  milliseconds_until_idle();
  EXPECT_FALSE(runner_.poll(outcome));
}

TEST_F(RunnerTest, ACancelledRunEndsSoon) {
  runner_.request(slow());
  wait_until_running();
  runner_.cancel();
  // 50 ms is promised; what other processes take away from this one comes on top.
  EXPECT_LT(milliseconds_until_idle(), 500 * kSlower);
  Runner::Outcome outcome;
  EXPECT_FALSE(runner_.poll(outcome));
  runner_.request(quick("still alive"));
  EXPECT_TRUE(wait(outcome));
}

TEST_F(RunnerTest, WhatWasCancelledDoesNotComeBack) {
  runner_.request(quick("one"));
  milliseconds_until_idle();  // it is done, and nobody has asked for it
  runner_.cancel();
  Runner::Outcome outcome;
  EXPECT_FALSE(runner_.poll(outcome));
}

// First what a few of the tokens give, then the whole.
TEST_F(RunnerTest, ALongRunBeginsWithAPreview) {
  Experiment long_one = slow();
  long_one.text = std::string(1024, 'x');
  runner_.request(long_one);
  Runner::Outcome outcome;
  ASSERT_TRUE(wait(outcome));
  ASSERT_NE(outcome.trace, nullptr) << outcome.error;
  if (outcome.preview_of == 0) GTEST_SKIP() << "a machine on which nothing takes long";
  EXPECT_EQ(outcome.preview_of, 1024);
  EXPECT_EQ(outcome.trace->tokens.size(), 128u);
  EXPECT_EQ(outcome.experiment.most_tokens, 128);
  EXPECT_TRUE(runner_.busy());
  const Progress::Now now = runner_.progress();
  EXPECT_TRUE(now.what.starts_with("layer ")) << now.what;
  EXPECT_TRUE(now.what.ends_with(" of 48")) << now.what;
  EXPECT_GT(now.share, 0);
  EXPECT_LT(now.share, 1);
  const auto preview = outcome.trace;
  ASSERT_TRUE(wait(outcome));
  EXPECT_EQ(outcome.preview_of, 0);
  EXPECT_EQ(outcome.experiment, long_one);
  ASSERT_EQ(outcome.trace->tokens.size(), 1024u);
  // The rows of a causal model are as they will be.
  const Tensor first = preview->find({47, 3})->attention(3);
  const Tensor whole = outcome.trace->find({47, 3})->attention(3);
  for (Index row = 0; row < 128; ++row) {
    for (Index key = 0; key <= row; ++key) {
      ASSERT_NEAR(first(row, key), whole(row, key), 1e-5) << row << " " << key;
    }
  }
}

// What is there of a large model's run, as that of a model with fewer layers and no head.
TEST(LayerWatch, SeesTheLayersAsTheyCome) {
  const testing::TemporaryFolder folder;
  testing::save_byte_model(folder.path() / "model", 4, 16, 12);
  Experiment experiment;
  experiment.model = (folder.path() / "model").string();
  experiment.text = "a text";
  const auto watch = std::make_shared<ExperimentRun::LayerWatch>();
  watch->after = watch->between = 0;
  std::vector<std::shared_ptr<const Trace>> seen;
  watch->take = [&](std::shared_ptr<const Trace> trace, Index layers) {
    EXPECT_EQ(layers, 4);
    seen.push_back(std::move(trace));
  };
  ExperimentRun run(cpu_only());
  run.watch(watch);
  run.run(experiment, Stop());
  EXPECT_TRUE(seen.empty());  // it is small
  EXPECT_FALSE(watch->on);
  watch->from = 0;
  const auto whole = run.run(experiment, Stop());
  EXPECT_TRUE(watch->on);
  ASSERT_EQ(seen.size(), 3u);
  for (std::size_t n = 0; n < 3; ++n) {
    const auto layers = static_cast<Index>(n) + 1;
    const Trace& part = *seen[n];
    EXPECT_EQ(part.config->layers, layers);
    EXPECT_FALSE(part.logits.defined());
    EXPECT_EQ(part.layer_count({}), layers);
    EXPECT_EQ(part.backend, whole->backend);
    const HeadRef last{layers - 1, 0};
    EXPECT_TRUE(testing::close(part.find(last)->attention(0), whole->find(last)->attention(0), 0));
    EXPECT_NE(part.notes.back().find(n == 0 ? "layer 1 of 4" : "layers 1 to "), std::string::npos);
  }
  EXPECT_EQ(whole->config->layers, 4);
}

// The whole encoder comes with the first layer of what reads it.
TEST(LayerWatch, SeesTheLayersOfADecoderThatReadsAnEncoder) {
  Experiment experiment;
  experiment.model = testing::model_case("encoder_decoder-sinusoidal");
  experiment.ids = {7, 0, 9, 7, 0, 16, 8};
  experiment.target_ids = {1, 5, 2, 4, 3};
  const auto watch = std::make_shared<ExperimentRun::LayerWatch>();
  watch->after = watch->between = 0;
  watch->from = 0;
  std::vector<std::shared_ptr<const Trace>> seen;
  watch->take = [&](std::shared_ptr<const Trace> trace, Index) {
    seen.push_back(std::move(trace));
  };
  ExperimentRun run(cpu_only());
  run.watch(watch);
  const auto whole = run.run(experiment, Stop());
  EXPECT_TRUE(watch->on);
  ASSERT_EQ(static_cast<Index>(seen.size()), whole->config->layers - 1);
  const Trace& first = *seen[0];
  EXPECT_EQ(first.config->layers, 1);
  const PartChoice encoder{.stack = Stack::Encoder};
  EXPECT_EQ(first.layer_count(first.part(encoder)), whole->layer_count(whole->part(encoder)));
  EXPECT_EQ(first.layer_count(first.part({})), 1);
}

TEST(LayerWatch, IsForStacksThatArePassedOnce) {
  EXPECT_FALSE(comes_by_layer(load_checkpoint("universal").model.config, 0));
  EXPECT_FALSE(comes_by_layer(load_checkpoint("numbers-additive").model.config, 0));
  EXPECT_TRUE(comes_by_layer(load_checkpoint("numbers").model.config, 0));
  ModelConfig config = load_checkpoint("default").model.config;
  EXPECT_TRUE(comes_by_layer(config, 0));
  EXPECT_FALSE(comes_by_layer(config));
  config.segment = 16;
  EXPECT_FALSE(comes_by_layer(config, 0));
}

TEST(Preview, IsOfSoFewTokensThatItComesSoon) {
  EXPECT_EQ(preview_tokens(100), 0);
  EXPECT_EQ(preview_tokens(128), 16);
  EXPECT_EQ(preview_tokens(1000), 125);
  EXPECT_EQ(preview_tokens(29'000), 512);
}

TEST(Preview, IsNoneWhereItWouldShowSomethingElse) {
  Experiment experiment;
  experiment.text = "a text";
  ASSERT_TRUE(preview_of(experiment, 1000));
  EXPECT_EQ(preview_of(experiment, 1000)->most_tokens, 125);
  EXPECT_FALSE(preview_of(experiment, 100));
  const auto none = [&](auto change) {
    Experiment other = experiment;
    change(other);
    return !preview_of(other, 1000);
  };
  EXPECT_TRUE(none([](Experiment& e) { e.overlong = Overlong::Last; }));
  EXPECT_TRUE(none([](Experiment& e) { e.input = "digit.png"; }));
  EXPECT_TRUE(none([](Experiment& e) { e.tensors.file = "a.npy"; }));
  EXPECT_TRUE(none([](Experiment& e) { e.view.height = e.view.width = 10; }));
  EXPECT_TRUE(none([](Experiment& e) { e.view.pinned_query = 300; }));
  EXPECT_FALSE(none([](Experiment& e) { e.view.pinned_query = 30; }));
  EXPECT_TRUE(none([](Experiment& e) { e.view.part.segment = 2; }));
  EXPECT_TRUE(none([](Experiment& e) { e.others.emplace_back(); }));
}

TEST_F(RunnerTest, TimesThatAreComparedAreMediansOfWarmRuns) {
  ExperimentRun run{cpu_only()};
  Experiment both = quick("abc");
  EXPECT_EQ(run.observe(both, kBeside, Stop()).trace->warm_runs, 0);
  both.others.push_back(quick("abcd"));
  const Traces traces = run.observe(both, kBeside, Stop());
  EXPECT_GE(traces.trace->warm_runs, 3);
  EXPECT_GE(traces.reference()->warm_runs, 3);
  EXPECT_GT(traces.trace->milliseconds, 0);
}

TEST(WarmRuns, AreAsManyAsTakeAQuarterOfASecond) {
  EXPECT_EQ(warm_runs_after(0), 9);
  EXPECT_EQ(warm_runs_after(27), 9);
  EXPECT_EQ(warm_runs_after(50), 5);
  EXPECT_EQ(warm_runs_after(62.5), 4);
  EXPECT_EQ(warm_runs_after(62.6), 3);
  EXPECT_EQ(warm_runs_after(83.3), 3);
  EXPECT_EQ(warm_runs_after(83.4), 0);
  EXPECT_EQ(warm_runs_after(4000), 0);
}

TEST_F(RunnerTest, EndsWhileItIsBusy) {
  runner_.request(slow());
  wait_until_running();  // the destructor cancels and joins
}

// Whatever is looked at alone or lies behind the first tokens would not be in it.
TEST(Preview, IsOfWholePicturesOfTheFirstTokens) {
  Experiment experiment;
  experiment.text = "a text";
  const auto there = [&](auto change) {
    Experiment other = experiment;
    change(other);
    return preview_of(other, 1000).has_value();
  };
  EXPECT_TRUE(there([](Experiment& e) { e.view.pinned_query = e.view.pinned_key = 124; }));
  EXPECT_FALSE(there([](Experiment& e) { e.view.pinned_query = 125; }));
  EXPECT_FALSE(there([](Experiment& e) { e.view.pinned_key = 125; }));
  EXPECT_FALSE(there([](Experiment& e) { e.view.row = 1; }));
  EXPECT_FALSE(there([](Experiment& e) { e.view.column = 1; }));
  EXPECT_FALSE(there([](Experiment& e) { e.view.height = 1; }));
  EXPECT_FALSE(there([](Experiment& e) { e.view.width = 1; }));
  EXPECT_FALSE(there([](Experiment& e) { e.target_ids = {1}; }));
  EXPECT_FALSE(there([](Experiment& e) { e.interventions.emplace_back(); }));
  EXPECT_EQ(preview_tokens(127), 0);
  EXPECT_EQ(preview_tokens(4096), 512);
  EXPECT_EQ(preview_tokens(4088), 511);
}

TEST(LayerWatch, CountsTheParametersOfAModel) {
  const ModelConfig config = testing::small_config({.layers = 2});
  const Index count = parameter_count(config);
  EXPECT_TRUE(comes_by_layer(config, count));
  EXPECT_FALSE(comes_by_layer(config, count + 1));
  ModelConfig other = config;
  other.own_layers = 1;
  EXPECT_FALSE(comes_by_layer(other, 0));
  other = config;
  other.join = {"gru", default_values(join("gru").parameters)};
  EXPECT_FALSE(comes_by_layer(other, 0));
  other = config;
  other.exits = Choice{"classifier", default_values(exit_rule("classifier").parameters)};
  EXPECT_FALSE(comes_by_layer(other, 0));
  other = config;
  other.architecture = {"universal", default_values(architecture("universal").parameters)};
  EXPECT_FALSE(comes_by_layer(other, 0));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
