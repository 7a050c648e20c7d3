#include <gtest/gtest.h>

#include <cmath>

#include "core/analysis/halting.h"
#include "core/base/error.h"
#include "core/figure/plain_text.h"
#include "tests/support/case_run.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::all_text;
using testing::kIds;
using testing::lay_out_view;
using testing::LayoutOptions;

// Computes the steps N, the remainder R and the ponder cost from the halting probabilities.
TEST(Steps, MatchEquations) {
  for (const char* model : {"universal-act", "universal-act-all-halt-at-once"}) {
    const auto trace = testing::run_case(model, kIds);
    const HaltingRecord record = halting_of(*trace);
    double ponder = 0;
    for (Index i = 0; i < record.length(); ++i) {
      double sum = 0;
      Index n = 0;
      for (Index t = 0; t < record.max_steps; ++t) {
        const auto h = static_cast<double>(record.probability(i, t));
        n = t + 1;
        if (sum + h >= 1 - record.epsilon || n == record.max_steps) break;
        sum += h;
      }
      const auto index = static_cast<std::size_t>(i);
      EXPECT_EQ(record.steps[index], n) << model << ", token " << i;
      EXPECT_NEAR(record.remainder[index], 1 - sum, 1e-5);
      ponder += (static_cast<double>(n) + 1 - sum) / static_cast<double>(record.length());
      for (Index t = n; t < record.max_steps; ++t)
        EXPECT_TRUE(std::isnan(record.probability(i, t)));
    }
    EXPECT_NEAR(record.ponder(), ponder, 1e-5);
  }
}

TEST(Steps, ReportStepOfEachToken) {
  const auto trace = testing::run_case("universal-act", kIds);
  const HaltingRecord record = halting_of(*trace);
  const ViewLayout layout = lay_out_view(*trace, "steps");
  const std::string drawn_text = all_text(layout.list);
  for (Index t = 1; t <= record.max_steps; ++t) {
    const std::string swatch =
        std::to_string(t) + " (" + std::to_string(std::ranges::count(record.steps, t)) + ")";
    EXPECT_NE(drawn_text.find(swatch), std::string::npos) << swatch << drawn_text;
  }
  EXPECT_EQ(testing::count_highlighted_boxes(layout.list), record.length());
}

TEST(Steps, PointerReportsToken) {
  const auto trace = testing::run_case("universal-act", kIds);
  LayoutOptions options;
  options.framed = false;
  const Box plot = lay_out_view(*trace, "steps", options).plot;
  options.pointer = Point{plot.x + 3, plot.bottom() - 3};
  const ViewLayout layout = lay_out_view(*trace, "steps", options);
  const auto hit = layout.hit(*options.pointer);
  ASSERT_TRUE(hit);
  EXPECT_EQ(hit->query, 10);
  EXPECT_EQ(hit->key, -1);
  const std::string drawn_text = all_text(layout.list);
  EXPECT_NE(drawn_text.find("“#14” "), std::string::npos) << drawn_text;
  EXPECT_NE(drawn_text.find("ponder cost " /* in words */), std::string::npos) << drawn_text;
}

TEST(Steps, ExplainMissingHalting) {
  const auto fixed_steps = testing::run_case("universal-fixed", kIds);
  const ViewLayout layout = lay_out_view(*fixed_steps, "steps");
  EXPECT_NE(layout.refusal, "");
  EXPECT_NE(all_text(layout.list).find("Halting"), std::string::npos) << all_text(layout.list);
  EXPECT_EQ(view("steps").objection(*fixed_steps), "Every token uses all steps.");
  const Trace without_steps = testing::synthetic_trace(2, 2, 9);
  EXPECT_EQ(view("steps").objection(without_steps), "This model has no recurrence over depth.");
  const testing::ViewInputFixture fixture(without_steps, {});
  EXPECT_THROW(view("steps").data(fixture.input), InputError);
}

ViewLayout graph_of(const Trace& trace, ViewSettings settings = {}) {
  settings.id = "steps";
  set_view_value(settings, "steps", "picture", std::string("graph"));
  LayoutOptions options;
  options.settings = settings;
  return lay_out_view(trace, "steps", options);
}

// Each sub-step has its probability and its weight; weights and remainder sum to 1.
TEST(Steps, ComputationGraphShowsSubSteps) {
  const auto trace = testing::run_case("recurrent-act", {16, 4, 0});
  const HaltingRecord record = halting_of(*trace);
  const ViewLayout layout = graph_of(*trace);
  EXPECT_EQ(layout.refusal, "");
  EXPECT_EQ(testing::layout_error(layout.list), "");
  const std::string drawn_text = all_text(layout.list);
  Index sub_steps = 0;
  for (Index i = 0; i < record.length(); ++i) {
    const Index last = record.steps[static_cast<std::size_t>(i)];
    sub_steps += last;
    for (Index n = 0; n < last; ++n) {
      const std::string h = "h " + fixed(static_cast<double>(record.probability(i, n)), 2);
      EXPECT_NE(drawn_text.find(h), std::string::npos) << h;
    }
    const std::string r = "R " + fixed(record.remainder[static_cast<std::size_t>(i)], 2);
    EXPECT_NE(drawn_text.find(r), std::string::npos) << r;
  }
  const auto states = std::ranges::count_if(
      layout.list.items, [](const Item& item) { return std::holds_alternative<HeatMap>(item); });
  EXPECT_EQ(states, sub_steps + record.length());  // one state per sub-step, one mean per token
  EXPECT_EQ(layout.hit(Point{layout.list.width / 2, layout.list.height / 2})->query, 1);
}

TEST(Steps, ComputationGraphNeedsRecurrentModel) {
  const auto trace = testing::run_case("universal-act", kIds);
  EXPECT_TRUE(graph_of(*trace).refusal.starts_with("This model has no recurrent cell"));
}

// Source and target tokens of an encoder-decoder have steps of their own.
TEST(Steps, ShowSelectedStack) {
  const auto trace =
      testing::run_case("universal_encoder_decoder-act", {7, 0, 9, 7, 0, 16, 8}, {1, 5, 2, 4, 3});
  for (const auto& [stack, count] : {std::pair{Stack::Encoder, Index{7}}, {Stack::Decoder, 5}}) {
    ViewSettings settings;
    settings.part.stack = stack;
    const testing::ViewInputFixture fixture(*trace, settings);
    const ViewData data = view("steps").data(fixture.input);
    EXPECT_EQ(data.matrices[0].values.dim(0), count);
    EXPECT_EQ(halting_of(*trace, stack).length(), count);
  }
}

TEST(Steps, ExportProbabilitiesAndCosts) {
  const auto trace = testing::run_case("universal-act", kIds);
  const HaltingRecord record = halting_of(*trace);
  const testing::ViewInputFixture fixture(*trace, {});
  const ViewData data = view("steps").data(fixture.input);
  ASSERT_EQ(data.matrices.size(), 3u);
  EXPECT_EQ(data.matrices[0].values.shape(), (Shape{11, record.max_steps}));
  for (Index i = 0; i < 11; ++i) {
    EXPECT_NEAR(static_cast<double>(data.matrices[1].values(i, 2)), record.ponder(i), 1e-5);
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
