// Generated targets, rollouts and completions compared with step-by-step computations.
#include "tests/core/experiment/tasks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "core/base/file.h"
#include "core/base/json.h"
#include "core/experiment/completion.h"
#include "core/experiment/generated_target.h"
#include "core/experiment/rollouts.h"
#include "core/model/input_kind.h"
#include "core/view/view_values.h"
#include "tests/support/compare.h"
#include "tests/support/places.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::ViewedRun;

double log_softmax(const Tensor& logits, Index row, std::int32_t id) {
  double sum = 0;
  for (Index n = 0; n < logits.dim(1); ++n) sum += std::exp(double{logits(row, n)});
  return double{logits(row, id)} - std::log(sum);
}

TEST(GeneratedTarget, MatchesTrace) {
  for (const char* model : {"encoder_decoder-sinusoidal", "rnn_attention-dot"}) {
    const ViewedRun viewed(testing::alignment_session(model));
    const auto written = viewed.findings.get(Findings::written);
    ASSERT_NE(written, nullptr);
    ASSERT_EQ(written->problem, "");
    ASSERT_GT(written->rows(), 0);
    EXPECT_EQ(written->given, 0);
    EXPECT_EQ(written->trace->logits.dim(0), written->rows());
    double sum = 0;
    for (Index row = 0; row < written->rows(); ++row) {
      const std::int32_t id = written->ids[static_cast<std::size_t>(row)];
      const float* begin = written->trace->logits.data() + row * written->trace->logits.dim(1);
      EXPECT_EQ(std::max_element(begin, begin + written->trace->logits.dim(1)) - begin, id);
      sum += log_softmax(written->trace->logits, row, id);
    }
    EXPECT_NEAR(written->search.best().log_probability, sum, 1e-3);
    EXPECT_EQ(generated_labels(*written).size(), written->ids.size());
  }
}

TEST(GeneratedTarget, ContinuesGivenTarget) {
  Session e = testing::alignment_session("encoder_decoder-sinusoidal");
  e.run.target_ids = {1, 5, 2};
  const ViewedRun viewed(e);
  const auto written = viewed.findings.get(Findings::written);
  ASSERT_NE(written, nullptr);
  EXPECT_EQ(written->given, 2);
  ASSERT_GT(written->rows(), 2);
  EXPECT_EQ(written->ids[0], 5);
  EXPECT_EQ(written->ids[1], 2);
  EXPECT_EQ(static_cast<Index>(written->search.steps.size()), written->rows() - 2);
}

TEST(GeneratedTarget, BeamSearchIsAtLeastAsLikely) {
  Session e = testing::alignment_session("encoder_decoder-sinusoidal");
  const double one =
      ViewedRun(e).findings.get(Findings::written)->search.steps.front().front().log_probability;
  set_view_value(e.view, "alignment", "beams", Index{3});
  const auto three = ViewedRun(e).findings.get(Findings::written);
  EXPECT_EQ(three->search.steps.front().size(), 3u);
  EXPECT_NEAR(three->search.steps.front().front().log_probability, one, 1e-6);
}

TEST(GeneratedTarget, LabelsMultibyteCharactersOnce) {
  GeneratedTarget written;
  auto trace = std::make_shared<Trace>();
  trace->tokenizer = byte_tokenizer();
  written.trace = trace;
  for (const char c : std::string("fünf")) {
    written.ids.push_back(static_cast<unsigned char>(c));
  }
  written.ids.push_back(256);
  written.ended = true;
  EXPECT_EQ(generated_labels(written), (std::vector<std::string>{"f", "ü₁", "ü₂", "n", "f", "■"}));
  EXPECT_EQ(generated_text(written), "fünf");
}

class WalkerRollouts : public ::testing::Test {
 protected:
  WalkerRollouts() { testing::save_walker(folder_.path() / "walker"); }
  testing::TemporaryFolder folder_;
};

TEST_F(WalkerRollouts, FollowMostLikelyAction) {
  const ViewedRun viewed(testing::trajectory_session(folder_.path() / "walker"));
  const auto rollouts = viewed.findings.get(Findings::rollouts);
  ASSERT_NE(rollouts, nullptr);
  ASSERT_EQ(rollouts->problem, "");
  EXPECT_EQ(rollouts->max_steps, 8);
  ASSERT_EQ(rollouts->all.size(), 24u * 8u);
  const auto checkpoint = model_store()->checkpoint((folder_.path() / "walker").string());
  for (const Rollout* walk : {rollouts->find(0, 4), rollouts->find(24, 1), rollouts->find(11, 8)}) {
    ASSERT_NE(walk, nullptr);
    std::vector<Index> cells{walk->start}, actions;
    for (Index t = 0; t < walk->steps(); ++t) {
      const Tensor logits =
          run(checkpoint->model, unfinished_walks({cells}, {actions}, {walk->target_steps}), {})
              .logits.value();
      const float* last = logits.data() + t * Grid::kActions;
      const Index action = std::max_element(last, last + Grid::kActions) - last;
      EXPECT_EQ(walk->actions[static_cast<std::size_t>(t)], action);
      double sum = 0;
      for (Index a = 0; a < Grid::kActions; ++a) sum += double{walk->probabilities(t, a)};
      EXPECT_NEAR(sum, 1.0, 1e-6);
      actions.push_back(action);
      cells.push_back(Grid::after(cells.back(), action));
    }
    EXPECT_EQ(walk->cells, cells);
    EXPECT_EQ(walk->reached, cells.back() == Grid::kGoal);
    EXPECT_TRUE(walk->reached || walk->steps() == 8);
    ASSERT_EQ(walk->attention.size(), 2u);
    const Index length = 3 * walk->steps() - 1;
    EXPECT_EQ(walk->attention[1].shape(), (Shape{2, length, length}));
    for (Index query = 0; query < length; ++query) {
      double row = 0;
      for (Index key = 0; key <= query; ++key) row += double{walk->attention[1](1, query, key)};
      EXPECT_NEAR(row, 1.0, 1e-5);
    }
  }
  EXPECT_EQ(rollouts->find(Grid::kGoal, 1), nullptr);
}

TEST(Rollouts, CountAchievedReturns) {
  Rollouts rollouts;
  rollouts.max_steps = 3;
  const auto add = [&](Index start, Index target_steps, std::vector<Index> cells, bool reached) {
    Rollout walk;
    walk.start = start;
    walk.target_steps = target_steps;
    walk.actions.resize(cells.size() - 1);
    walk.cells = std::move(cells);
    walk.reached = reached;
    rollouts.all.push_back(walk);
  };
  add(7, 1, {7, 12}, true);             // above the goal, direct
  add(7, 2, {7, 2, 7, 12}, true);       // one step late
  add(17, 1, {17, 22, 22, 22}, false);  // below it, never
  EXPECT_NEAR(rollouts.find(7, 2)->achieved(), -0.3, 1e-6);
  EXPECT_NEAR(rollouts.find(17, 1)->achieved(), -0.4, 1e-6);
  EXPECT_NEAR(rollouts.mean_achieved(1), (-0.1 - 0.4) / 2, 1e-6);
  EXPECT_EQ(rollouts.shortest().reached, 1);
  EXPECT_EQ(rollouts.shortest().of, 2);
  EXPECT_EQ(rollouts.within_target(2).reached, 0);
  EXPECT_EQ(rollouts.within_target(2).of, 1);
}

TEST(Completion, ContinuesPixelByPixel) {
  Session e = testing::completion_session();
  const ViewedRun viewed(e);
  const auto completion = viewed.findings.get(Findings::completion);
  ASSERT_NE(completion, nullptr);
  ASSERT_EQ(completion->problem, "");
  EXPECT_EQ(completion->width, 3);
  EXPECT_EQ(completion->height, 4);
  EXPECT_EQ(completion->given, 6);
  ASSERT_EQ(completion->ids.size(), 12u);
  EXPECT_TRUE(std::equal(e.run.ids.begin(), e.run.ids.begin() + 6, completion->ids.begin()));
  // Each pixel is the most likely one given the preceding pixels.
  const auto checkpoint = model_store()->checkpoint(e.run.model);
  Batch batch = input_kind("image").batch(completion->ids, checkpoint->model.config);
  batch.targets = IntTensor();
  const Tensor logits = run(checkpoint->model, batch, {}).logits.value();
  for (Index pixel = 6; pixel < 12; ++pixel) {
    const float* row = logits.data() + pixel * logits.dim(2);
    EXPECT_EQ(std::max_element(row, row + 6) - row,
              completion->ids[static_cast<std::size_t>(pixel)]);
    double sum = 0;
    for (Index level = 0; level < 6; ++level)
      sum += double{completion->probabilities(pixel, level)};
    EXPECT_NEAR(sum, 1.0, 1e-6);
  }
  double error = 0;
  for (std::size_t n = 6; n < 12; ++n) error += std::abs(completion->ids[n] - e.run.ids[n]);
  EXPECT_NEAR(completion->mean_error(), error / 6, 1e-9);
}

// Completes more pixels than the context has positions.
TEST(Completion, ContinuesBeyondContext) {
  Session e = testing::completion_session();
  const testing::TemporaryFolder folder;
  std::filesystem::copy(e.run.model, folder.path(), std::filesystem::copy_options::recursive);
  const std::string text = read_file(folder.path() / "config.json");
  const auto complete = [&](Index context) {
    Json config = Json::parse(text);
    config["variant"] = {{"type", "full"}};
    config["context"] = context;
    e.run.model = folder.path() / std::to_string(context);
    std::filesystem::create_directory(e.run.model);
    std::filesystem::copy_file(folder.path() / "model.safetensors",
                               std::filesystem::path(e.run.model) / "model.safetensors");
    write_file(std::filesystem::path(e.run.model) / "config.json", config.dump());
    const auto found = ViewedRun(e).findings.get(Findings::completion);
    EXPECT_EQ(found->problem, "");
    return found->ids;
  };
  const std::vector<std::int32_t> whole = complete(24);
  ASSERT_EQ(whole.size(), 12u);
  EXPECT_EQ(complete(8), whole);
}

TEST(Completion, IsSampledBySeed) {
  Session e = testing::completion_session();
  set_view_value(e.view, "image", "completed", std::string("drawn"));
  set_view_value(e.view, "image", "rows", Index{1});
  const auto once = ViewedRun(e).findings.get(Findings::completion);
  EXPECT_EQ(once->given, 3);
  EXPECT_EQ(ViewedRun(e).findings.get(Findings::completion)->ids, once->ids);
}

// Texts are not images, and images without a model cannot be completed.
TEST(Completion, RequiresImageModel) {
  Session e = testing::alignment_session("decoder-rope");
  e.view.id = "image";
  const ViewedRun viewed(e);
  EXPECT_TRUE(viewed.findings.get(Findings::completion)->ids.empty());
  e.run.tensors.file = "hills.png";
  EXPECT_FALSE(finding("completion").exists(e));
}

TEST(GeneratedTarget, NumbersCharactersOfAnyLength) {
  GeneratedTarget written;
  auto trace = std::make_shared<Trace>();
  trace->tokenizer = byte_tokenizer();
  written.trace = trace;
  for (const char c : std::string("€x😀")) written.ids.push_back(static_cast<unsigned char>(c));
  using Labels = std::vector<std::string>;
  EXPECT_EQ(generated_labels(written), (Labels{"€₁", "€₂", "€₃", "x", "😀₁", "😀₂", "😀₃", "😀₄"}));
  EXPECT_EQ(generated_text(written), "€x😀");
  written.ids.push_back(256);
  EXPECT_NE(generated_labels(written).back(), "■");  // unfinished: the last token is no end token
  written.ids = {-1, 'a', 70000};
  EXPECT_EQ(generated_text(written), "a");
  EXPECT_EQ(generated_labels(written).size(), 3u);
}

TEST(GeneratedTarget, BeamTextFollowsGivenTarget) {
  GeneratedTarget written;
  auto trace = std::make_shared<Trace>();
  trace->tokenizer = byte_tokenizer();
  written.trace = trace;
  written.ids = {'a', 'b', 'x', 'y'};
  written.given = 2;
  Beam beam;
  beam.ids = {'c', 'd'};
  EXPECT_EQ(beam_text(written, beam), "abcd");
  beam.ended = true;
  EXPECT_EQ(beam_text(written, beam), "abc■");
}

TEST(GeneratedTarget, RequiresInputOfModel) {
  const Finding& written = finding("written");
  const Session e = testing::alignment_session("encoder_decoder-sinusoidal");
  EXPECT_TRUE(written.exists(e));
  Session none = e;
  none.run.ids.clear();
  EXPECT_FALSE(written.exists(none));
  none = e;
  none.run.tensors.file = "a.npy";
  EXPECT_FALSE(written.exists(none));
}

// Progress never decreases and ends at the total.
void expect_progress(const std::string& id, const Session& e) {
  ExperimentRun run(cpu_only());
  std::vector<std::pair<std::size_t, std::size_t>> reports;
  const Findings found = compute_background_findings(
      e, required_findings(e), run,
      [&](std::size_t done, std::size_t total) { reports.emplace_back(done, total); });
  EXPECT_TRUE(found.has(id));
  ASSERT_GT(reports.size(), 1u) << id;
  for (std::size_t n = 0; n < reports.size(); ++n) {
    EXPECT_LE(reports[n].first, reports[n].second) << id;
    const auto share = [&](std::size_t at) {
      return static_cast<double>(reports[at].first) / static_cast<double>(reports[at].second);
    };
    EXPECT_GE(share(n), share(n > 0 ? n - 1 : 0)) << id;
  }
  EXPECT_EQ(reports.back().first, reports.back().second) << id;
}

TEST_F(WalkerRollouts, ProgressRisesToTheEnd) {
  expect_progress("rollouts", testing::trajectory_session(folder_.path() / "walker"));
  expect_progress("completion", testing::completion_session());
  expect_progress("written", testing::alignment_session("encoder_decoder-sinusoidal"));
}

TEST(Rollouts, RequireModelOfGridActions) {
  const auto problem = [](const Session& e) {
    return testing::background_findings(e).get(Findings::rollouts)->problem;
  };
  EXPECT_NE(problem(testing::trajectory_session(testing::model_case("trajectory")))
                .find("another environment"),
            std::string::npos);
  EXPECT_NE(problem(testing::trajectory_session(testing::model_case("decoder-rope")))
                .find("predicts no actions"),
            std::string::npos);
  Session e;
  EXPECT_FALSE(finding("rollouts").exists(e));
  e.run.input = "a.safetensors";
  EXPECT_TRUE(finding("rollouts").exists(e));
  e.run.tensors.file = "b.npy";
  EXPECT_FALSE(finding("rollouts").exists(e));
}

// within_target(): at most the requested steps; shortest(): the minimum number of steps.
TEST(Rollouts, CountRolloutsThatAchieveReturn) {
  Rollouts rollouts;
  rollouts.max_steps = 3;
  const auto add = [&](Index start, Index target_steps, Index steps, bool reached) {
    Rollout walk;
    walk.start = start;
    walk.target_steps = target_steps;
    walk.actions.resize(static_cast<std::size_t>(steps));
    walk.reached = reached;
    rollouts.all.push_back(walk);
  };
  add(7, 1, 1, true);    // one step from the goal, taken
  add(17, 1, 3, true);   // two steps too many
  add(11, 1, 1, false);  // misses the goal
  add(2, 1, 1, true);    // two steps away: impossible
  add(7, 3, 3, true);
  add(2, 3, 2, true);  // sooner than requested
  add(0, 3, 3, true);  // four steps away
  EXPECT_EQ(rollouts.within_target(1).of, 3);
  EXPECT_EQ(rollouts.within_target(1).reached, 1);
  EXPECT_EQ(rollouts.within_target(3).of, 2);
  EXPECT_EQ(rollouts.within_target(3).reached, 2);
  EXPECT_EQ(rollouts.shortest().of, 3);
  EXPECT_EQ(rollouts.shortest().reached, 1);
  EXPECT_EQ(rollouts.find(7, 2), nullptr);
  EXPECT_EQ(rollouts.find(2, 3), &rollouts.all[5]);
}

TEST_F(WalkerRollouts, ProbabilitiesMatchEachStep) {
  const ViewedRun viewed(testing::trajectory_session(folder_.path() / "walker"));
  const auto rollouts = viewed.findings.get(Findings::rollouts);
  const auto checkpoint = model_store()->checkpoint((folder_.path() / "walker").string());
  const Rollout& walk = *rollouts->find(20, 7);
  ASSERT_EQ(walk.probabilities.dim(0), walk.steps());
  for (Index t = 0; t < walk.steps(); ++t) {
    const std::vector<Index> cells(walk.cells.begin(), walk.cells.begin() + t + 1);
    const std::vector<Index> actions(walk.actions.begin(), walk.actions.begin() + t);
    const Tensor logits =
        run(checkpoint->model, unfinished_walks({cells}, {actions}, {7}), {}).logits.value();
    double sum = 0;
    for (Index a = 0; a < Grid::kActions; ++a) {
      sum += std::exp(static_cast<double>(logits[t * Grid::kActions + a]));
    }
    for (Index a = 0; a < Grid::kActions; ++a) {
      const double chance = std::exp(static_cast<double>(logits[t * Grid::kActions + a])) / sum;
      EXPECT_NEAR(static_cast<double>(walk.probabilities(t, a)), chance, 1e-5);
    }
  }
}

TEST(Completion, StartsFromGivenRows) {
  const auto complete = [](Index rows, std::size_t ids) {
    Session e = testing::completion_session();
    e.run.ids.resize(ids);
    if (rows >= 0) set_view_value(e.view, "image", "rows", rows);
    return testing::background_findings(e).get(Findings::completion);
  };
  EXPECT_EQ(complete(3, 12)->given, 9);
  EXPECT_EQ(complete(1, 12)->given, 3);
  EXPECT_EQ(complete(1, 12)->whole.size(), 12u);
  EXPECT_EQ(complete(-1, 12)->given, 6);
  EXPECT_EQ(complete(-1, 5)->given, 5);  // fewer than the rows
  EXPECT_TRUE(complete(-1, 5)->whole.empty());
  EXPECT_TRUE(std::isnan(complete(-1, 5)->mean_error()));
  EXPECT_EQ(complete(-1, 5)->ids.size(), 12u);
}

// Returns, states and actions alternate; the last action is missing if it is to be predicted.
TEST_F(WalkerRollouts, TokensAreNamedByStep) {
  const ViewedRun viewed(testing::trajectory_session(folder_.path() / "walker"));
  const std::vector<TraceToken>& tokens = viewed.trace->tokens;
  ASSERT_GT(tokens.size(), 4u);
  for (std::size_t n = 0; n < tokens.size(); ++n) {
    const char* const kinds[] = {"R", "s", "a"};
    EXPECT_EQ(tokens[n].label, kinds[n % 3] + std::to_string(n / 3));
    if (n % 3 == 2) {
      EXPECT_GE(tokens[n].id, 0);
    } else {
      EXPECT_EQ(tokens[n].id, -1);
    }
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
