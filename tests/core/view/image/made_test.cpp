// What the view of images says of a model that makes them.
#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/experiment/completion.h"
#include "core/lesson/claim.h"
#include "core/view/export/picture.h"
#include "core/view/image/next_pixel.h"
#include "tests/core/view/pictured.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using testing::Looked;
using testing::pictured;
using testing::says;

TEST(MadeImage, IsLegible) {
  for (const char* options : {"{}", R"({"completed": "drawn", "rows": 0, "seed": 4})"}) {
    Experiment e = testing::completing();
    set_view_values(e.view, "image",
                    values_from_json(view("image").parameters, Json::parse(options), ""));
    testing::expect_legible(Looked(e), options);
  }
}

TEST(MadeImage, NextPixelIsTheSoftmaxOverLevels) {
  const Looked looked(testing::completing());
  const ViewInput input{.trace = *looked.trace,
                        .experiment = looked.experiment,
                        .theme = Theme::light(),
                        .measure = file_text_measure(),
                        .findings = looked.findings};
  for (const Index pixel : {0, 7, 11}) {
    const NextPixel next = next_pixel(input, pixel);
    ASSERT_EQ(next.chances.size(), 6u);
    double sum = 0, mean = 0;
    for (Index level = 0; level < 6; ++level) {
      sum += std::exp(double{looked.trace->logits(pixel, level)});
    }
    for (Index level = 0; level < 6; ++level) {
      const double p = std::exp(double{looked.trace->logits(pixel, level)}) / sum;
      EXPECT_NEAR(next.chances[static_cast<std::size_t>(level)], p, 1e-6);
      mean += static_cast<double>(level) * p;
    }
    EXPECT_NEAR(next.expected, mean, 1e-5);
    EXPECT_EQ(next.own, looked.experiment.ids[static_cast<std::size_t>(pixel)]) << pixel;
  }
}

TEST(MadeImage, SaysWhatIsMadeAndHowFarOff) {
  const Looked looked(testing::completing());
  const auto completion = looked.findings.get(Findings::completion);
  const ViewLayout layout = pictured(looked, {.width = 1200, .height = 760});
  EXPECT_TRUE(says(layout.list, "Completed by the model"));
  EXPECT_TRUE(says(layout.list, "The next pixel: row 2, column 1"));
  EXPECT_TRUE(says(layout.list, "below"));
  EXPECT_EQ(layout.pending, "");
  Claim claim;
  claim.measure = "completion_error";
  claim.most = 6;
  Traces traces(looked.trace);
  traces.findings = looked.findings;
  EXPECT_EQ(check(claim, traces).value, completion->mean_error());
  Looked waiting = looked;
  waiting.findings = {};
  EXPECT_NE(pictured(waiting).pending, "");
  EXPECT_THROW(check(claim, Traces(looked.trace)), InputError);
}

// No pixel lies under the chart.
TEST(MadeImage, OnlyPixelsCanBePointedAt) {
  const Looked looked(testing::completing());
  const ViewLayout layout = pictured(looked, {.width = 1200, .height = 760});
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

TEST(MadeImage, PicturesWithoutAModelHaveNothingToComplete) {
  ViewSettings settings;
  settings.id = "image";
  const Looked looked(testing::completing());
  EXPECT_EQ(view_controls(settings, looked.trace.get()).parameters.size(), 3u);
  EXPECT_TRUE(view_controls(settings, looked.trace.get()).idle.contains("seed"));
  const Trace text = testing::synthetic_trace(1, 1, 4);
  EXPECT_TRUE(view_controls(settings, &text).parameters.empty());
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
