// Compares generated targets, rollouts and completions with step-by-step computations.
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
    const auto target = viewed.findings.get(Findings::written);
    ASSERT_NE(target, nullptr);
    ASSERT_EQ(target->problem, "");
    ASSERT_GT(target->rows(), 0);
    EXPECT_EQ(target->given, 0);
    EXPECT_EQ(target->trace->logits.dim(0), target->rows());
    double sum = 0;
    for (Index row = 0; row < target->rows(); ++row) {
      const std::int32_t id = target->ids[static_cast<std::size_t>(row)];
      const float* begin =
          target->trace->logits.value().data() + row * target->trace->logits.dim(1);
      EXPECT_EQ(std::max_element(begin, begin + target->trace->logits.dim(1)) - begin, id);
      sum += log_softmax(target->trace->logits, row, id);
    }
    EXPECT_NEAR(target->search.best().log_probability, sum, 1e-3);
    EXPECT_EQ(generated_labels(*target).size(), target->ids.size());
  }
}

TEST(GeneratedTarget, ContinuesGivenTarget) {
  Session session = testing::alignment_session("encoder_decoder-sinusoidal");
  session.run.target_ids = {1, 5, 2};
  const ViewedRun viewed(session);
  const auto target = viewed.findings.get(Findings::written);
  ASSERT_NE(target, nullptr);
  EXPECT_EQ(target->given, 2);
  ASSERT_GT(target->rows(), 2);
  EXPECT_EQ(target->ids[0], 5);
  EXPECT_EQ(target->ids[1], 2);
  EXPECT_EQ(static_cast<Index>(target->search.steps.size()), target->rows() - 2);
}

TEST(GeneratedTarget, BeamSearchIsAtLeastAsLikely) {
  Session session = testing::alignment_session("encoder_decoder-sinusoidal");
  const double greedy_log_probability = ViewedRun(session)
                                            .findings.get(Findings::written)
                                            ->search.steps.front()
                                            .front()
                                            .log_probability;
  set_view_value(session.view, "alignment", "beams", Index{3});
  const auto beam_target = ViewedRun(session).findings.get(Findings::written);
  EXPECT_EQ(beam_target->search.steps.front().size(), 3u);
  EXPECT_NEAR(beam_target->search.steps.front().front().log_probability, greedy_log_probability,
              1e-6);
}

TEST(GeneratedTarget, LabelsMultibyteCharactersOnce) {
  GeneratedTarget target;
  auto trace = std::make_shared<Trace>();
  trace->tokenizer = byte_tokenizer();
  target.trace = trace;
  for (const char c : std::string("fünf")) {
    target.ids.push_back(static_cast<unsigned char>(c));
  }
  target.ids.push_back(256);
  target.ended = true;
  EXPECT_EQ(generated_labels(target), (std::vector<std::string>{"f", "ü₁", "ü₂", "n", "f", "■"}));
  EXPECT_EQ(generated_text(target), "fünf");
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
  add(7, 1, {7, 12}, true);             // starts above the goal, reaches it directly
  add(7, 2, {7, 2, 7, 12}, true);       // reaches the goal one step late
  add(17, 1, {17, 22, 22, 22}, false);  // starts below the goal, never reaches it
  EXPECT_NEAR(rollouts.find(7, 2)->achieved(), -0.3, 1e-6);
  EXPECT_NEAR(rollouts.find(17, 1)->achieved(), -0.4, 1e-6);
  EXPECT_NEAR(rollouts.mean_achieved(1), (-0.1 - 0.4) / 2, 1e-6);
  EXPECT_EQ(rollouts.shortest().reached, 1);
  EXPECT_EQ(rollouts.shortest().of, 2);
  EXPECT_EQ(rollouts.within_target(2).reached, 0);
  EXPECT_EQ(rollouts.within_target(2).of, 1);
}

TEST(Completion, ContinuesPixelByPixel) {
  Session session = testing::completion_session();
  const ViewedRun viewed(session);
  const auto completion = viewed.findings.get(Findings::completion);
  ASSERT_NE(completion, nullptr);
  ASSERT_EQ(completion->problem, "");
  EXPECT_EQ(completion->width, 3);
  EXPECT_EQ(completion->height, 4);
  EXPECT_EQ(completion->given, 6);
  ASSERT_EQ(completion->ids.size(), 12u);
  EXPECT_TRUE(
      std::equal(session.run.ids.begin(), session.run.ids.begin() + 6, completion->ids.begin()));
  // Each pixel has the most likely level given the preceding pixels.
  const auto checkpoint = model_store()->checkpoint(session.run.model);
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
  for (std::size_t n = 6; n < 12; ++n) error += std::abs(completion->ids[n] - session.run.ids[n]);
  EXPECT_NEAR(completion->mean_error(), error / 6, 1e-9);
}

// Completes more pixels than the context has positions.
TEST(Completion, ContinuesBeyondContext) {
  Session session = testing::completion_session();
  const testing::TemporaryFolder folder;
  std::filesystem::copy(session.run.model, folder.path(), std::filesystem::copy_options::recursive);
  const std::string text = read_file(folder.path() / "config.json");
  const auto complete = [&](Index context) {
    Json config = Json::parse(text);
    config["variant"] = {{"type", "full"}};
    config["context"] = context;
    session.run.model = folder.path() / std::to_string(context);
    std::filesystem::create_directory(session.run.model);
    std::filesystem::copy_file(folder.path() / "model.safetensors",
                               std::filesystem::path(session.run.model) / "model.safetensors");
    write_file(std::filesystem::path(session.run.model) / "config.json", config.dump());
    const auto completion = ViewedRun(session).findings.get(Findings::completion);
    EXPECT_EQ(completion->problem, "");
    return completion->ids;
  };
  const std::vector<std::int32_t> expected_ids = complete(24);
  ASSERT_EQ(expected_ids.size(), 12u);
  EXPECT_EQ(complete(8), expected_ids);
}

TEST(Completion, IsSampledBySeed) {
  Session session = testing::completion_session();
  set_view_value(session.view, "image", "completed", std::string("drawn"));
  set_view_value(session.view, "image", "rows", Index{1});
  const auto completion = ViewedRun(session).findings.get(Findings::completion);
  EXPECT_EQ(completion->given, 3);
  EXPECT_EQ(ViewedRun(session).findings.get(Findings::completion)->ids, completion->ids);
}

// Texts are not images, and images without a model cannot be completed.
TEST(Completion, RequiresImageModel) {
  Session session = testing::alignment_session("decoder-rope");
  session.view.id = "image";
  const ViewedRun viewed(session);
  EXPECT_TRUE(viewed.findings.get(Findings::completion)->ids.empty());
  session.run.tensors.file = "hills.png";
  EXPECT_FALSE(finding("completion").exists(session));
}

TEST(GeneratedTarget, NumbersCharactersOfAnyLength) {
  GeneratedTarget target;
  auto trace = std::make_shared<Trace>();
  trace->tokenizer = byte_tokenizer();
  target.trace = trace;
  for (const char c : std::string("€x😀")) target.ids.push_back(static_cast<unsigned char>(c));
  using Labels = std::vector<std::string>;
  EXPECT_EQ(generated_labels(target), (Labels{"€₁", "€₂", "€₃", "x", "😀₁", "😀₂", "😀₃", "😀₄"}));
  EXPECT_EQ(generated_text(target), "€x😀");
  target.ids.push_back(256);
  EXPECT_NE(generated_labels(target).back(),
            "■");  // unfinished: no end token
  target.ids = {-1, 'a', 70000};
  EXPECT_EQ(generated_text(target), "a");
  EXPECT_EQ(generated_labels(target).size(), 3u);
}

TEST(GeneratedTarget, BeamTextFollowsGivenTarget) {
  GeneratedTarget target;
  auto trace = std::make_shared<Trace>();
  trace->tokenizer = byte_tokenizer();
  target.trace = trace;
  target.ids = {'a', 'b', 'x', 'y'};
  target.given = 2;
  Beam beam;
  beam.ids = {'c', 'd'};
  EXPECT_EQ(beam_text(target, beam), "abcd");
  beam.ended = true;
  EXPECT_EQ(beam_text(target, beam), "abc■");
}

TEST(GeneratedTarget, RequiresInputOfModel) {
  const Finding& target_finding = finding("written");
  const Session session = testing::alignment_session("encoder_decoder-sinusoidal");
  EXPECT_TRUE(target_finding.exists(session));
  Session invalid = session;
  invalid.run.ids.clear();
  EXPECT_FALSE(target_finding.exists(invalid));
  invalid = session;
  invalid.run.tensors.file = "a.npy";
  EXPECT_FALSE(target_finding.exists(invalid));
}

// Progress never decreases and ends at the total.
void expect_progress(const std::string& id, const Session& session) {
  ExperimentRun run(cpu_only());
  std::vector<std::pair<std::size_t, std::size_t>> reports;
  const Findings findings = compute_background_findings(
      session, required_findings(session), run,
      [&](std::size_t done, std::size_t total) { reports.emplace_back(done, total); });
  EXPECT_TRUE(findings.has(id));
  ASSERT_GT(reports.size(), 1u) << id;
  for (std::size_t n = 0; n < reports.size(); ++n) {
    EXPECT_LE(reports[n].first, reports[n].second) << id;
    const auto fraction = [&](std::size_t index) {
      return static_cast<double>(reports[index].first) / static_cast<double>(reports[index].second);
    };
    EXPECT_GE(fraction(n), fraction(n > 0 ? n - 1 : 0)) << id;
  }
  EXPECT_EQ(reports.back().first, reports.back().second) << id;
}

TEST_F(WalkerRollouts, ProgressRisesToTheEnd) {
  expect_progress("rollouts", testing::trajectory_session(folder_.path() / "walker"));
  expect_progress("completion", testing::completion_session());
  expect_progress("written", testing::alignment_session("encoder_decoder-sinusoidal"));
}

TEST(Rollouts, RequireModelOfGridActions) {
  const auto problem = [](const Session& session) {
    return testing::background_findings(session).get(Findings::rollouts)->problem;
  };
  EXPECT_NE(problem(testing::trajectory_session(testing::model_case("trajectory")))
                .find("another environment"),
            std::string::npos);
  EXPECT_NE(problem(testing::trajectory_session(testing::model_case("decoder-rope")))
                .find("predicts no actions"),
            std::string::npos);
  Session session;
  EXPECT_FALSE(finding("rollouts").exists(session));
  session.run.input = "a.safetensors";
  EXPECT_TRUE(finding("rollouts").exists(session));
  session.run.tensors.file = "b.npy";
  EXPECT_FALSE(finding("rollouts").exists(session));
}

// within_target() counts rollouts that reach the goal in at most the requested steps. shortest()
// counts rollouts whose requested and actual steps are the minimum.
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
  add(7, 1, 1, true);    // one step from the goal, reached
  add(17, 1, 3, true);   // two steps too many
  add(11, 1, 1, false);  // misses the goal
  add(2, 1, 1, true);    // two steps away: impossible
  add(7, 3, 3, true);
  add(2, 3, 2, true);  // fewer steps than requested
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
      const double probability =
          std::exp(static_cast<double>(logits[t * Grid::kActions + a])) / sum;
      EXPECT_NEAR(static_cast<double>(walk.probabilities(t, a)), probability, 1e-5);
    }
  }
}

TEST(Completion, StartsFromGivenRows) {
  const auto complete = [](Index rows, std::size_t ids) {
    Session session = testing::completion_session();
    session.run.ids.resize(ids);
    if (rows >= 0) set_view_value(session.view, "image", "rows", rows);
    return testing::background_findings(session).get(Findings::completion);
  };
  EXPECT_EQ(complete(3, 12)->given, 9);
  EXPECT_EQ(complete(1, 12)->given, 3);
  EXPECT_EQ(complete(1, 12)->whole.size(), 12u);
  EXPECT_EQ(complete(-1, 12)->given, 6);
  EXPECT_EQ(complete(-1, 5)->given, 5);  // the image has fewer pixels than the default rows
  EXPECT_TRUE(complete(-1, 5)->whole.empty());
  EXPECT_TRUE(std::isnan(complete(-1, 5)->mean_error()));
  EXPECT_EQ(complete(-1, 5)->ids.size(), 12u);
}

// Returns, states and actions alternate. The last action is missing if the model has to predict it.
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
