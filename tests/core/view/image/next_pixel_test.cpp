// Image view of models that generate images.
#include "core/view/image/next_pixel.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/experiment/completion.h"
#include "core/lesson/claim.h"
#include "core/view/export/picture.h"
#include "tests/core/view/viewed_layout.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::layout_of;
using testing::shows_text;
using testing::ViewedRun;

TEST(NextPixel, IsLegible) {
  for (const char* options : {"{}", R"({"completed": "drawn", "rows": 0, "seed": 4})"}) {
    Session session = testing::completion_session();
    set_view_values(session.view, "image",
                    values_from_json(view("image").options.parameters, Json::parse(options), ""));
    testing::expect_legible(ViewedRun(session), options);
  }
}

TEST(NextPixel, MatchesSoftmaxOverLevels) {
  const ViewedRun viewed(testing::completion_session());
  const ViewInput input{.trace = *viewed.trace,
                        .session = viewed.session,
                        .findings = viewed.findings,
                        .canvas = {.theme = Theme::light(), .measure = file_text_measure()}};
  for (const Index pixel : {0, 7, 11}) {
    const NextPixel next = next_pixel(input, pixel);
    ASSERT_EQ(next.probabilities.size(), 6u);
    double sum = 0, mean = 0;
    for (Index level = 0; level < 6; ++level) {
      sum += std::exp(double{viewed.trace->logits.value()(pixel, level)});
    }
    for (Index level = 0; level < 6; ++level) {
      const double p = std::exp(double{viewed.trace->logits.value()(pixel, level)}) / sum;
      EXPECT_NEAR(next.probabilities[static_cast<std::size_t>(level)], p, 1e-6);
      mean += static_cast<double>(level) * p;
    }
    EXPECT_NEAR(next.expected, mean, 1e-5);
    EXPECT_EQ(next.true_level, viewed.session.run.ids[static_cast<std::size_t>(pixel)]) << pixel;
  }
}

TEST(NextPixel, ReportsCompletionAndError) {
  const ViewedRun viewed(testing::completion_session());
  const auto completion = viewed.findings.get(Findings::completion);
  const ViewLayout layout = layout_of(viewed, {.width = 1200, .height = 760});
  EXPECT_TRUE(shows_text(layout.list, "Completed by the model"));
  EXPECT_TRUE(shows_text(layout.list, "The next pixel: row 2, column 1"));
  EXPECT_TRUE(shows_text(layout.list, "below"));
  EXPECT_EQ(layout.pending, "");
  Claim claim;
  claim.measure = "completion_error";
  claim.most = 6;
  Traces traces(viewed.trace);
  traces.findings = viewed.findings;
  EXPECT_EQ(check(claim, traces).value, completion->mean_error());
  ViewedRun pending = viewed;
  pending.findings = {};
  EXPECT_NE(layout_of(pending).pending, "");
  EXPECT_THROW(check(claim, Traces(viewed.trace)), InputError);
}

// The chart reports no pixels.
TEST(NextPixel, PointerSelectsPixelsOnly) {
  const ViewedRun viewed(testing::completion_session());
  const ViewLayout layout = layout_of(viewed, {.width = 1200, .height = 760});
  Index hits = 0;
  for (double x = 0; x < 1200; x += 7) {
    for (double y = 0; y < 760; y += 7) {
      const auto hit = layout.hit({x, y});
      if (!hit) continue;
      ++hits;
      EXPECT_LT(hit->query, 12);
    }
  }
  EXPECT_GT(hits, 100);
}

TEST(NextPixel, CompletionRequiresModel) {
  ViewSettings settings;
  settings.id = "image";
  const ViewedRun viewed(testing::completion_session());
  EXPECT_EQ(view_controls(settings, viewed.trace.get()).parameters.size(), 3u);
  EXPECT_TRUE(view_controls(settings, viewed.trace.get()).idle.contains("seed"));
  const Trace text = testing::synthetic_trace(1, 1, 4);
  EXPECT_TRUE(view_controls(settings, &text).parameters.empty());
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
