#include "core/experiment/runner.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "core/base/error.h"
#include "core/model/architecture.h"
#include "core/model/exits.h"
#include "core/model/logit_lens.h"
#include "core/model/residual_connection.h"
#include "core/model/weights.h"
#include "tests/core/experiment/models.h"
#include "tests/core/experiment/tasks.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using Clock = std::chrono::steady_clock;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kSanitizerFactor = 10;  // relative to builds without sanitizers
#else
constexpr int kSanitizerFactor = 1;
#endif

// Provides a fast model and a model that runs for seconds.
class RunnerTest : public ::testing::Test {
 protected:
  RunnerTest() {
    testing::save_byte_model(folder_.path() / "quick", 1, 16, 12);
  }

  Session quick_session(const std::string& text) const {
    Session session;
    session.run.model = (folder_.path() / "quick").string();
    session.run.text = text;
    return session;
  }
  Session slow_session() const {
    const std::filesystem::path model = folder_.path() / "slow";
    if (!std::filesystem::exists(model)) testing::save_byte_model(model, 48, 256, 2048);
    Session session;
    session.run.model = model.string();
    session.run.text = std::string(2048, 'x');
    return session;
  }

  void request(const Session& session) {
    runner_.request(std::make_shared<const Session>(session));
  }
  // Waits for an outcome. Returns false after 30 seconds, or later with sanitizers.
  bool wait(Runner::Outcome& outcome) {
    const auto deadline = Clock::now() + std::chrono::seconds(30 * kSanitizerFactor);
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

const std::vector<FindingRequest> kReferenceFindings = {{Findings::reference.id}};

TEST_F(RunnerTest, ExecutesRequest) {
  Runner::Outcome outcome;
  EXPECT_FALSE(runner_.poll(outcome));
  request(quick_session("abc"));
  ASSERT_TRUE(wait(outcome));
  ASSERT_NE(outcome.trace, nullptr);
  EXPECT_EQ(outcome.trace->tokens.size(), 3u);
  EXPECT_EQ(*outcome.session, quick_session("abc"));
  EXPECT_FALSE(runner_.poll(outcome));
}

TEST_F(RunnerTest, RunsBothSidesOfComparison) {
  ExperimentRun run{cpu_only()};
  Session session = quick_session("abc");
  session.b = quick_session("abcd");
  const Traces first = run.observe(session, kReferenceFindings);
  EXPECT_EQ(first.trace->tokens.size(), 3u);
  ASSERT_NE(first.reference(), nullptr);
  EXPECT_EQ(first.reference()->tokens.size(), 4u);

  session.run.text = "ab";  // the reference is not run again
  const Traces second = run.observe(session, kReferenceFindings);
  EXPECT_EQ(second.trace->tokens.size(), 2u);
  EXPECT_EQ(second.reference(), first.reference());
  EXPECT_EQ(run.observe(quick_session("abc"), kReferenceFindings).reference(), nullptr);
}

TEST_F(RunnerTest, ComputesFindingsOfView) {
  ExperimentRun run{cpu_only()};
  Session session = quick_session("abc");
  const Traces without_lens = run.observe(session, {});
  EXPECT_EQ(without_lens.findings.get(Findings::lens), nullptr);
  const Traces with_lens = run.observe(session, {{"lens"}});
  const auto lens = with_lens.findings.get(Findings::lens);
  ASSERT_NE(lens, nullptr);
  EXPECT_EQ(lens->guess.dim(1), 3);
  // The forward pass was not repeated; findings are kept, even for views that do not read them.
  EXPECT_EQ(with_lens.trace, without_lens.trace);
  for (const auto& requests :
       {std::vector<FindingRequest>{{"lens"}}, std::vector<FindingRequest>{}}) {
    EXPECT_EQ(run.observe(session, requests).findings.get(Findings::lens), lens);
  }
  session.run.text = "abcd";
  EXPECT_EQ(run.observe(session, {}).findings, Findings());
}

TEST_F(RunnerTest, ReportsTraceBeforeFindings) {
  ExperimentRun run{cpu_only()};
  const auto watch = std::make_shared<ExperimentRun::LayerWatch>();
  std::vector<std::shared_ptr<const Trace>> reported;
  watch->on_trace = [&](std::shared_ptr<const Trace> trace) { reported.push_back(trace); };
  run.watch(watch);
  Session session = quick_session("abc");
  run.observe(session, {});  // no findings to wait for
  EXPECT_TRUE(reported.empty());
  const Traces traces = run.observe(session, {{"lens"}});
  ASSERT_EQ(reported.size(), 1u);
  EXPECT_EQ(reported[0], traces.trace);
  session.b = quick_session("abcd");  // a comparison needs both runs
  run.observe(session, {{"lens"}, {"reference"}});
  EXPECT_EQ(reported.size(), 1u);
}

// Flow reads the lens of one token.
TEST_F(RunnerTest, ComputesLensOfTokensOnDemand) {
  ExperimentRun run{cpu_only()};
  Session comparison = quick_session("abc");
  comparison.b = quick_session("abcd");
  const Traces traces = run.observe(comparison, {{"token_lens"}, {"reference"}});
  EXPECT_FALSE(traces.findings.has("lens"));
  const auto lens = traces.findings.get(Findings::token_lens);
  ASSERT_NE(lens, nullptr);
  EXPECT_EQ(lens->length(), 3);
  const Traces whole = run.observe(comparison, {{"lens"}, {"reference"}});
  EXPECT_EQ(lens->at(1).guess[0], whole.findings.get(Findings::lens)->guess(0, 1));
  EXPECT_EQ(findings_of_reference(traces.findings).get(Findings::token_lens)->length(), 4);
}

// The window may show the reference run alone, with the findings of the view.
TEST_F(RunnerTest, ComputesFindingsOfReferenceRun) {
  ExperimentRun run{cpu_only()};
  Session comparison = quick_session("abc");
  comparison.b = quick_session("abcd");
  const Traces traces = run.observe(comparison, {{"lens"}, {"reference"}});
  const Findings reference = findings_of_reference(traces.findings);
  ASSERT_TRUE(reference.has("lens"));
  EXPECT_EQ(reference.get(Findings::lens)->guess.dim(1), 4);
  EXPECT_FALSE(reference.has("reference"));
  // Changes the reference run, then removes it.
  comparison.b->run.text = "ab";
  EXPECT_EQ(run.observe(comparison, kReferenceFindings).reference()->tokens.size(), 2u);
  comparison.b.reset();
  EXPECT_EQ(run.observe(comparison, kReferenceFindings).reference(), nullptr);
}

TEST_F(RunnerTest, RunsWithAndWithoutInterventions) {
  ExperimentRun run{cpu_only()};
  Session session = quick_session("abc");
  session.run.interventions = {intervention_from_text("replace position=1 text=x"),
                               intervention_from_text("off layer=0")};
  const Traces traces = run.observe(session, kReferenceFindings);
  ASSERT_NE(traces.reference(), nullptr);
  EXPECT_EQ(traces.trace->tokens[1].label, "x");
  EXPECT_EQ(traces.reference()->tokens[1].label, "b");
  EXPECT_EQ(traces.trace->tokens[1].begin, 1u);
  session.run.interventions = {intervention_from_text("replace position=1 text=xy")};
  EXPECT_THROW(run.run(session.run), InputError);  // two tokens
  session.run.interventions = {intervention_from_text("replace position=3 text=x")};
  EXPECT_THROW(run.run(session.run), InputError);  // positions are 0 to 2
}

TEST_F(RunnerTest, ReportsErrors) {
  Runner::Outcome outcome;
  request(quick_session(""));
  ASSERT_TRUE(wait(outcome));
  EXPECT_EQ(outcome.trace, nullptr);
  EXPECT_THROW(std::rethrow_exception(outcome.error), InputError);
}

TEST_F(RunnerTest, NewestRequestWins) {
  request(slow_session());
  wait_until_running();
  request(quick_session("one"));
  request(quick_session("three"));
  Runner::Outcome outcome;
  ASSERT_TRUE(wait(outcome));
  ASSERT_NE(outcome.trace, nullptr);
  EXPECT_EQ(outcome.session->run.text, "three");
  milliseconds_until_idle();
  EXPECT_FALSE(runner_.poll(outcome));
}

TEST_F(RunnerTest, CancelledRunEndsSoon) {
  request(slow_session());
  wait_until_running();
  runner_.cancel();
  // Cancellation takes at most 50 ms; the tenfold limit allows for other processes.
  EXPECT_LT(milliseconds_until_idle(), 500 * kSanitizerFactor);
  Runner::Outcome outcome;
  EXPECT_FALSE(runner_.poll(outcome));
  request(quick_session("still alive"));
  EXPECT_TRUE(wait(outcome));
}

TEST_F(RunnerTest, CancelledRunDeliversNothing) {
  request(quick_session("one"));
  milliseconds_until_idle();  // finished, and not polled
  runner_.cancel();
  Runner::Outcome outcome;
  EXPECT_FALSE(runner_.poll(outcome));
}

// The outcome of a run over the first tokens comes first, as a preview. The outcome of the whole
// run follows.
TEST_F(RunnerTest, LongRunStartsWithPreview) {
  Session long_session = slow_session();
  long_session.run.text = std::string(1024, 'x');
  request(long_session);
  Runner::Outcome outcome;
  ASSERT_TRUE(wait(outcome));
  ASSERT_NE(outcome.trace, nullptr);
  if (outcome.preview_of_tokens == 0) GTEST_SKIP() << "this machine is too fast for a preview";
  EXPECT_EQ(outcome.preview_of_tokens, 1024);
  EXPECT_EQ(outcome.trace->tokens.size(), 128u);
  EXPECT_EQ(outcome.session->run.max_tokens, 128);
  EXPECT_TRUE(runner_.busy());
  const Progress::Snapshot progress = runner_.progress();
  EXPECT_TRUE(progress.stage.starts_with("layer ")) << progress.stage;
  EXPECT_TRUE(progress.stage.ends_with(" of 48")) << progress.stage;
  EXPECT_GT(progress.share, 0);
  EXPECT_LT(progress.share, 1);
  const auto preview = outcome.trace;
  ASSERT_TRUE(wait(outcome));
  EXPECT_EQ(outcome.preview_of_tokens, 0);
  EXPECT_EQ(*outcome.session, long_session);
  ASSERT_EQ(outcome.trace->tokens.size(), 1024u);
  // In a causal model, the rows of the preview equal those of the whole run.
  const Tensor preview_map = preview->find({47, 3})->attention(3);
  const Tensor full_map = outcome.trace->find({47, 3})->attention(3);
  for (Index row = 0; row < 128; ++row) {
    for (Index key = 0; key <= row; ++key) {
      ASSERT_NEAR(preview_map(row, key), full_map(row, key), 1e-5) << row << " " << key;
    }
  }
}

// The preview of a large model has fewer layers and no output head.
TEST(LayerWatch, ReportsLayersAsTheyComplete) {
  const testing::TemporaryFolder folder;
  testing::save_byte_model(folder.path() / "model", 4, 16, 12);
  Session session;
  session.run.model = (folder.path() / "model").string();
  session.run.text = "a text";
  const auto watch = std::make_shared<ExperimentRun::LayerWatch>();
  watch->delay = watch->interval = 0;
  std::vector<std::shared_ptr<const Trace>> reports;
  watch->on_layers = [&](std::shared_ptr<const Trace> trace, Index layers) {
    EXPECT_EQ(layers, 4);
    reports.push_back(std::move(trace));
  };
  ExperimentRun run(cpu_only());
  run.watch(watch);
  run.run(session.run);
  EXPECT_TRUE(reports.empty());  // the model is too small for previews
  EXPECT_FALSE(watch->is_active);
  watch->min_parameters = 0;
  const auto whole = run.run(session.run);
  EXPECT_TRUE(watch->is_active);
  ASSERT_EQ(reports.size(), 3u);
  for (std::size_t n = 0; n < 3; ++n) {
    const auto layers = static_cast<Index>(n) + 1;
    const Trace& part = *reports[n];
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

// The whole encoder precedes the first decoder layer.
TEST(LayerWatch, ReportsDecoderLayersAfterEncoder) {
  Session session;
  session.run.model = testing::model_case("encoder_decoder-sinusoidal");
  session.run.ids = {7, 0, 9, 7, 0, 16, 8};
  session.run.target_ids = {1, 5, 2, 4, 3};
  const auto watch = std::make_shared<ExperimentRun::LayerWatch>();
  watch->delay = watch->interval = 0;
  watch->min_parameters = 0;
  std::vector<std::shared_ptr<const Trace>> reports;
  watch->on_layers = [&](std::shared_ptr<const Trace> trace, Index) {
    reports.push_back(std::move(trace));
  };
  ExperimentRun run(cpu_only());
  run.watch(watch);
  const auto whole = run.run(session.run);
  EXPECT_TRUE(watch->is_active);
  ASSERT_EQ(static_cast<Index>(reports.size()), whole->config->layers - 1);
  const Trace& first = *reports[0];
  EXPECT_EQ(first.config->layers, 1);
  const PartChoice encoder{.stack = Stack::Encoder};
  EXPECT_EQ(first.layer_count(first.part(encoder)), whole->layer_count(whole->part(encoder)));
  EXPECT_EQ(first.layer_count(first.part({})), 1);
}

TEST(LayerWatch, RequiresSinglePassStacks) {
  EXPECT_FALSE(shows_layers(load_checkpoint("universal").model.config, 0));
  EXPECT_FALSE(shows_layers(load_checkpoint("numbers-additive").model.config, 0));
  EXPECT_TRUE(shows_layers(load_checkpoint("numbers").model.config, 0));
  ModelConfig config = load_checkpoint("default").model.config;
  EXPECT_TRUE(shows_layers(config, 0));
  EXPECT_FALSE(shows_layers(config));
  config.segment = 16;
  EXPECT_FALSE(shows_layers(config, 0));
}

TEST(Preview, HasAtMostAnEighthOfTokens) {
  EXPECT_EQ(preview_tokens(100), 0);
  EXPECT_EQ(preview_tokens(128), 16);
  EXPECT_EQ(preview_tokens(1000), 125);
  EXPECT_EQ(preview_tokens(29'000), 512);
}

TEST(Preview, IsOmittedIfItWouldDiffer) {
  Session session;
  session.run.text = "a text";
  ASSERT_TRUE(preview_session(session, 1000));
  EXPECT_EQ(preview_session(session, 1000)->run.max_tokens, 125);
  EXPECT_FALSE(preview_session(session, 100));
  const auto is_omitted = [&](auto change) {
    Session changed = session;
    change(changed);
    return !preview_session(changed, 1000);
  };
  EXPECT_TRUE(is_omitted([](Session& changed) { changed.run.overlong = Overlong::Last; }));
  EXPECT_TRUE(is_omitted([](Session& changed) { changed.run.input = "digit.png"; }));
  EXPECT_TRUE(is_omitted([](Session& changed) { changed.run.tensors.file = "a.npy"; }));
  EXPECT_TRUE(is_omitted([](Session& changed) { changed.view.height = changed.view.width = 10; }));
  EXPECT_TRUE(is_omitted([](Session& changed) { changed.view.pinned_query = 300; }));
  EXPECT_FALSE(is_omitted([](Session& changed) { changed.view.pinned_query = 30; }));
  EXPECT_TRUE(is_omitted([](Session& changed) { changed.view.part.segment = 2; }));
  EXPECT_TRUE(is_omitted([](Session& changed) { changed.b.emplace(); }));
}

TEST_F(RunnerTest, ComparedTimesAreMediansOfWarmRuns) {
  ExperimentRun run{cpu_only()};
  Session comparison = quick_session("abc");
  EXPECT_EQ(run.observe(comparison, kReferenceFindings).trace->warm_runs, 0);
  comparison.b = quick_session("abcd");
  const Traces traces = run.observe(comparison, kReferenceFindings);
  EXPECT_GE(traces.trace->warm_runs, 3);
  EXPECT_GE(traces.reference()->warm_runs, 3);
  EXPECT_GT(traces.trace->milliseconds, 0);
}

TEST(WarmRuns, FillQuarterOfASecond) {
  EXPECT_EQ(warm_runs_after(0), 9);
  EXPECT_EQ(warm_runs_after(27), 9);
  EXPECT_EQ(warm_runs_after(50), 5);
  EXPECT_EQ(warm_runs_after(62.5), 4);
  EXPECT_EQ(warm_runs_after(62.6), 3);
  EXPECT_EQ(warm_runs_after(83.3), 3);
  EXPECT_EQ(warm_runs_after(83.4), 0);
  EXPECT_EQ(warm_runs_after(4000), 0);
}

TEST_F(RunnerTest, DestructorCancelsRun) {
  request(slow_session());
  wait_until_running();  // the destructor cancels and joins
}

// There is no preview if it would lack a pinned token, if the view shows part of a map, or if the
// run has a target or interventions.
TEST(Preview, ShowsWholePictureOfFirstTokens) {
  Session session;
  session.run.text = "a text";
  const auto has_preview = [&](auto change) {
    Session changed = session;
    change(changed);
    return preview_session(changed, 1000).has_value();
  };
  EXPECT_TRUE(has_preview(
      [](Session& changed) { changed.view.pinned_query = changed.view.pinned_key = 124; }));
  EXPECT_FALSE(has_preview([](Session& changed) { changed.view.pinned_query = 125; }));
  EXPECT_FALSE(has_preview([](Session& changed) { changed.view.pinned_key = 125; }));
  EXPECT_FALSE(has_preview([](Session& changed) { changed.view.row = 1; }));
  EXPECT_FALSE(has_preview([](Session& changed) { changed.view.column = 1; }));
  EXPECT_FALSE(has_preview([](Session& changed) { changed.view.height = 1; }));
  EXPECT_FALSE(has_preview([](Session& changed) { changed.view.width = 1; }));
  EXPECT_FALSE(has_preview([](Session& changed) { changed.run.target_ids = {1}; }));
  EXPECT_FALSE(has_preview([](Session& changed) { changed.run.interventions.emplace_back(); }));
  EXPECT_EQ(preview_tokens(127), 0);
  EXPECT_EQ(preview_tokens(4096), 512);
  EXPECT_EQ(preview_tokens(4088), 511);
}

TEST(LayerWatch, CountsParametersOfModel) {
  const ModelConfig config = testing::small_config({.layers = 2});
  const Index count = parameter_count(config);
  EXPECT_TRUE(shows_layers(config, count));
  EXPECT_FALSE(shows_layers(config, count + 1));
  ModelConfig changed = config;
  changed.own_layers = 1;
  EXPECT_FALSE(shows_layers(changed, 0));
  changed = config;
  changed.residual_connection = {"gru", default_values(residual_connection("gru").parameters)};
  EXPECT_FALSE(shows_layers(changed, 0));
  changed = config;
  changed.exits = Choice{"classifier", default_values(exit_rule("classifier").parameters)};
  EXPECT_FALSE(shows_layers(changed, 0));
  changed = config;
  changed.architecture = {"universal", default_values(architecture("universal").parameters)};
  EXPECT_FALSE(shows_layers(changed, 0));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
