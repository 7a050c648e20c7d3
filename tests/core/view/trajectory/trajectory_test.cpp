#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/experiment/rollouts.h"
#include "core/figure/plain_text.h"
#include "core/lesson/claim.h"
#include "core/view/export/picture.h"
#include "core/view/trajectory/walk_grid.h"
#include "tests/core/view/viewed_layout.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::layout_of;
using testing::shows_text;
using testing::ViewedRun;

class Trajectory : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new testing::TemporaryFolder;
    testing::save_walker(folder_->path() / "walker");
    viewed_ = new ViewedRun(testing::trajectory_session(folder_->path() / "walker"));
  }
  static void TearDownTestSuite() {
    delete viewed_;
    delete folder_;
  }
  static ViewedRun viewed_with(const std::string& json) {
    ViewedRun viewed = *viewed_;
    set_view_values(viewed.session.view, "trajectory",
                    values_from_json(view("trajectory").options.parameters, Json::parse(json), ""));
    return viewed;
  }
  static testing::TemporaryFolder* folder_;
  static ViewedRun* viewed_;
};
testing::TemporaryFolder* Trajectory::folder_ = nullptr;
ViewedRun* Trajectory::viewed_ = nullptr;

TEST_F(Trajectory, IsLegible) {
  for (const char* options : {"{}", R"({"start": 24, "asked": 8})", R"({"start": 13, "asked": 1})",
                              R"({"start": 4, "asked": 99, "step": 0})", R"({"step": 3})"}) {
    testing::expect_legible(viewed_with(options), options);
  }
}

TEST_F(Trajectory, ReportsRequestedAndAchievedReturn) {
  const auto rollouts = viewed_->findings.get(Findings::rollouts);
  for (const auto& [start, target_steps] : {std::pair<Index, Index>{0, 4}, {13, 1}, {24, 6}}) {
    const ViewedRun viewed = viewed_with("{\"start\": " + std::to_string(start) +
                                         ", \"asked\": " + std::to_string(target_steps) + "}");
    const Rollout& walk = *rollouts->find(start, target_steps);
    EXPECT_EQ(&selected_walk(*rollouts, viewed.session.view), &walk);
    const ViewLayout layout = layout_of(viewed);
    EXPECT_TRUE(shows_text(layout.list, "For return " + fixed(walk.target_return(), 1)));
    EXPECT_TRUE(shows_text(layout.list, ": return " + fixed(walk.achieved(), 1)));
    EXPECT_TRUE(
        shows_text(layout.list, walk.reached ? "reaches the goal" : "has not reached the goal"));
    const Rollouts::Share share = rollouts->shortest();
    EXPECT_TRUE(shows_text(layout.list, std::to_string(share.reached) + " of 24 cells"));
    Claim claim;
    claim.view = viewed.session.view;
    claim.least = -9;
    Traces traces(viewed.trace);
    traces.findings = viewed.findings;
    const auto measure = [&](const char* id) {
      claim.measure = id;
      return check(claim, traces).value;
    };
    EXPECT_NEAR(measure("starts_solved"), static_cast<double>(share.reached) / 24, 1e-12);
    const double follows = measure("achieved_follows_asked");
    EXPECT_TRUE(std::isnan(follows) || std::abs(follows) <= 1 + 1e-9);
  }
}

// The default walk starts in the corner and has the return of the shortest path as its target.
TEST_F(Trajectory, ClicksSelectCellAndReturn) {
  const ViewLayout layout = layout_of(*viewed_);
  const auto rollouts = viewed_->findings.get(Findings::rollouts);
  EXPECT_EQ(&selected_walk(*rollouts, viewed_->session.view), rollouts->find(0, 4));
  Session session = viewed_->session;
  ASSERT_GT(layout.handles.size(), 24u);
  layout.handles[5].click(session);
  EXPECT_EQ(view_values(session.view, "trajectory").integer("start"), 5);
  layout.handles[12].click(session);  // the goal is not a start
  EXPECT_EQ(view_values(session.view, "trajectory").integer("start"), 13);
  const Handle& chart = layout.handles[24];
  ASSERT_TRUE(chart.drag);
  chart.drag({chart.area.x, chart.area.y}, session);
  EXPECT_EQ(view_values(session.view, "trajectory").integer("asked"), 8);
  chart.drag({chart.area.right(), chart.area.y}, session);
  EXPECT_EQ(view_values(session.view, "trajectory").integer("asked"), 1);
}

TEST_F(Trajectory, ExplainsMissingTrajectory) {
  const ViewedRun text(testing::alignment_session("decoder-rope"));
  ViewedRun text_in_view = text;
  text_in_view.session.view.id = "trajectory";
  EXPECT_TRUE(layout_of(text_in_view).refusal.starts_with("No trajectories"));
  EXPECT_NE(view("trajectory").objection(*text.trace), "");
  ViewedRun pending_run = *viewed_;
  pending_run.findings = {};
  EXPECT_NE(layout_of(pending_run).pending, "");
  // Models of other environments have no grid.
  Session session = viewed_->session;
  session.run.model = testing::model_case("trajectory");
  session.run.input = testing::model_case("trajectory") + "/input.safetensors";
  EXPECT_NE(layout_of(ViewedRun(session)).refusal.find("another environment"), std::string::npos);
}

TEST(PlaneTrajectory, DrawsThePathAndItsActions) {
  Session session;
  session.run.model = "steering";
  session.run.input =
      (testing::source_folder() / "assets" / "samples" / "steering.safetensors").string();
  session.view.id = "trajectory";
  ViewedRun viewed(session);
  testing::expect_legible(viewed, "steering");
  const auto rollouts = viewed.findings.get(Findings::rollouts);
  ASSERT_EQ(rollouts->problem, "");
  ASSERT_EQ(rollouts->all.size(), 24u * 12u);
  for (const auto& [start, asked] : {std::pair<Index, Index>{0, 6}, {14, 12}, {23, 1}}) {
    set_view_value(viewed.session.view, "trajectory", "start", start);
    set_view_value(viewed.session.view, "trajectory", "asked", asked);
    testing::expect_legible(viewed, "start " + std::to_string(start));
    const Rollout& walk = *rollouts->find(start, asked);
    const ViewLayout layout = layout_of(viewed);
    EXPECT_TRUE(shows_text(layout.list, ": return " + fixed(walk.achieved(), 1)));
    EXPECT_TRUE(shows_text(layout.list, "Path from " + describe_start(World::Plane, start)));
    EXPECT_EQ(walk.points.size(), walk.moves.size() + 1);
    EXPECT_EQ(walk.attention[1].dim(1), 3 * walk.steps() - 1);
  }
  EXPECT_NEAR(rollouts->mean_achieved(9), -0.9, 0.05);
  testing::TemporaryFolder folder;
  write_view(folder.path() / "walk.csv", *viewed.trace, viewed.session, {}, viewed.findings);
  EXPECT_NE(read_file(folder.path() / "walk.csv").find("action x,action y"), std::string::npos);
}

TEST_F(Trajectory, ExportsNumbersAndFiles) {
  testing::TemporaryFolder folder;
  for (const char* ending : {".png", ".svg", ".pdf", ".csv", ".safetensors"}) {
    const auto file = folder.path() / (std::string("trajectory") + ending);
    write_view(file, *viewed_->trace, viewed_->session, {}, viewed_->findings);
    EXPECT_GT(std::filesystem::file_size(file), 100u);
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
