#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/checkpoint/snapshots.h"
#include "core/experiment/finding.h"
#include "core/experiment/run.h"
#include "core/experiment/training_study.h"
#include "core/training/learning_figure.h"
#include "core/view/opening.h"
#include "core/view/view.h"
#include "core/view/view_values.h"
#include "tests/core/view/families.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::all_text;
using testing::layout_error;

// Log of a training with an evaluation every 10 steps.
LearningCurve sample_curve(Index steps) {
  LearningCurve curve;
  curve.steps = steps;
  curve.layers = {"embed", "layers.0", "layers.1", "norm", "output"};
  curve.expected = "the token after the previous occurrence of the query's token";
  for (Index step = 1; step <= steps; ++step) {
    LossRow row;
    row.step = step;
    const double progress = static_cast<double>(step) / static_cast<double>(steps);
    row.loss = 3 * (1 - progress) + 0.1;
    row.learning_rate = 0.01;
    row.gradient_norm = 1.5 - progress;
    row.gradients = {0.1, 0.2, 0.3, 0.01, 0.4};
    if (step % 10 == 0) {
      row.held_out = {row.loss + 0.1, NAN, progress};
      row.expected = {progress, 0.1, 1, 0, 0};
    }
    curve.rows.push_back(row);
  }
  return curve;
}

struct Drawn {
  Trace trace = testing::synthetic_trace(1, 2, 7);
  Session session;
  Findings findings;

  explicit Drawn(TrainingStudy study, const TrainingStudy* reference = nullptr) {
    session.view.id = "train";
    trace.counts[kTrainingStep] =
        IntTensor::full({1}, static_cast<std::int32_t>(study.step.value_or(-1)));
    findings.set(Findings::training, std::make_shared<const TrainingStudy>(std::move(study)));
    if (reference == nullptr) return;
    session.b.emplace();
    findings.set(Findings::reference_training, std::make_shared<const TrainingStudy>(*reference));
  }
  ViewLayout lay_out(double width, double height, double font = 13,
                     std::optional<Point> pointer = {}) const {
    const ViewInput input{.trace = trace,
                          .session = session,
                          .findings = findings,
                          .canvas = {.width = width,
                                     .height = height,
                                     .font_size = font,
                                     .theme = Theme::light(),
                                     .measure = file_text_measure()},
                          .figure = {.framed = font == 13},
                          .interaction = {.pointer = pointer}};
    return view("train").lay_out(input);
  }
};

TEST(Train, DrawsLossScoreAndGradients) {
  const Drawn drawn({.curve = sample_curve(100)});
  const std::string text = all_text(drawn.lay_out(1000, 700).list);
  for (const char* part : {"Loss", "Accuracy", "Gradient norm by layer", "best head", "layer 1",
                           "Step 100 of 100: loss 0.1, held out 0.2, accuracy 1.00",
                           "Expected map: the token after the previous occurrence"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST(Train, LayoutFitsEverySize) {
  TrainingStudy deep{.curve = sample_curve(40)};
  for (Index layer = 2; layer < 24; ++layer) {
    deep.curve.layers.push_back("layers." + std::to_string(layer));
    for (LossRow& row : deep.curve.rows) row.gradients.push_back(0.1);
  }
  deep.step = 20;
  const TrainingStudy other{.curve = sample_curve(60), .folder = "/models/other"};
  const Drawn alone(deep), compared(deep, &other);
  for (const Drawn* drawn : {&alone, &compared}) {
    for (const char* show : {"all", "loss", "scores", "gradients"}) {
      Drawn shown = *drawn;
      set_view_value(shown.session.view, "train", "show", std::string(show));
      for (const auto& [width, height, font] : {std::tuple{1000.0, 700.0, 13.0},
                                                {500.0, 420.0, 13.0},
                                                {1600.0, 1000.0, 26.0},
                                                {340.0, 300.0, 13.0},
                                                {333.0, 555.0, 13.0},
                                                {620.0, 480.0, 13.0},
                                                {120.0, 90.0, 13.0}}) {
        EXPECT_EQ(layout_error(shown.lay_out(width, height, font).list), "")
            << show << " " << width << " x " << height;
      }
    }
  }
}

TEST(Train, PointerAndDragSelectSteps) {
  TrainingStudy study{.curve = sample_curve(100)};
  study.folder = "/models/mine";
  study.snapshots = {0, 50, 100};
  const Drawn drawn(study);
  const ViewLayout layout = drawn.lay_out(1000, 700);
  ASSERT_EQ(layout.handles.size(), 3u);
  const Box plot = layout.handles.front().area;
  const Point middle{plot.x + 0.45 * plot.width, plot.y + plot.height / 2};
  Session session;
  layout.handles.front().drag(middle, session);
  EXPECT_EQ(session.run.model, snapshot_folder("/models/mine", 50).string());
  layout.handles.front().drag({plot.right() + 100, plot.y}, session);
  EXPECT_EQ(session.run.model, snapshot_folder("/models/mine", 100).string());
  const std::string text = all_text(drawn.lay_out(1000, 700, 13, middle).list);
  EXPECT_NE(text.find("Step 45 of 100: loss 1.75, held out 2, accuracy 0.40"), std::string::npos)
      << text;
}

TEST(Train, DataHasEveryStep) {
  const Drawn drawn({.curve = sample_curve(30)});
  const testing::ViewInputFixture fixture(drawn.trace, drawn.session.view);
  ViewInput input = fixture.input;
  input.findings = drawn.findings;
  const ViewData data = view("train").data(input);
  ASSERT_EQ(data.matrices.size(), 1u);
  const ViewData::Matrix& log = data.matrices.front();
  EXPECT_EQ(log.values.shape(), (Shape{30, 14}));
  EXPECT_EQ(log.rows.back(), "step 30");
  EXPECT_EQ(log.columns.back(), "gradient output");
  EXPECT_FLOAT_EQ(log.values(9, 0), 2.1F);
  EXPECT_FLOAT_EQ(log.values(9, 3), 2.2F);
  EXPECT_TRUE(std::isnan(log.values(8, 3)));
  EXPECT_FLOAT_EQ(log.values(29, 13), 0.4F);
}

TEST(Train, RefusesModelsWithoutLog) {
  const Trace trace = testing::synthetic_trace(1, 2, 7);
  EXPECT_EQ(view("train").objection(trace), "No training log.");
  const ViewLayout layout = testing::lay_out_view(trace, "train");
  EXPECT_EQ(layout.refusal.find("No training log"), 0u) << layout.refusal;
  EXPECT_NE(all_text(layout.list).find("Train a model"), std::string::npos);
  const testing::ViewInputFixture fixture(trace, {});
  EXPECT_THROW(view("train").data(fixture.input), InputError);
}

// The example opens a bundled model whose log shows when its induction head formed.
TEST(Train, ExampleFindsExpectedMap) {
  Session session;
  session.view.id = "train";
  view("train").content.example(session);
  testing::ViewRun run(session);
  EXPECT_EQ(view("train").objection(run.trace()), "");
  const auto study = run.findings(session).get(Findings::training);
  ASSERT_NE(study, nullptr);
  EXPECT_EQ(study->problem, "");
  EXPECT_EQ(study->curve.rows.size(), 400u);
  ASSERT_NE(found_row(study->curve.rows), nullptr);
  EXPECT_EQ(found_row(study->curve.rows)->step, 210);
}

TEST(Train, ComparesTwoTrainings) {
  const TrainingStudy other{.curve = sample_curve(60), .folder = "/models/other"};
  const Drawn drawn({.curve = sample_curve(100)}, &other);
  const std::string text = all_text(drawn.lay_out(1000, 700).list);
  EXPECT_NE(text.find("B: training, running mean"), std::string::npos) << text;
  EXPECT_NE(text.find("B: step 60 of 60"), std::string::npos) << text;
  // Two snapshots of one training: one curve.
  TrainingStudy first{.curve = sample_curve(60)}, second = first;
  first.step = 10;
  second.step = 30;
  const std::string one = all_text(Drawn(first, &second).lay_out(1000, 700).list);
  EXPECT_EQ(one.find("B: training"), std::string::npos) << one;
  EXPECT_NE(one.find("Dashed vertical line: that of B."), std::string::npos) << one;
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
