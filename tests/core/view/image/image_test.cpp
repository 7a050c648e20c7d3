#include <gtest/gtest.h>

#include <cmath>

#include "core/experiment/image_tensors.h"
#include "core/experiment/run.h"
#include "core/figure/colour_map.h"
#include "core/input/image_file.h"
#include "core/view/image/pixel_panel.h"
#include "core/view/image/pixel_row.h"
#include "core/view/view.h"
#include "tests/support/places.h"
#include "tests/support/synthetic.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

Session example() {
  Session session;
  view("image").content.example(session);
  session.run.tensors.width = session.run.tensors.height = 8;
  session.run.variant->values.set("stride", Index{8});
  return session;
}

std::shared_ptr<const Trace> run(const Session& session) {
  ExperimentRun runner(cpu_only());
  return runner.run(session.run);
}

// Strided pattern of the Sparse Transformer: the preceding pixels within one row length, and all
// preceding pixels of the column.
TEST(ImageView, RowsMatchPattern) {
  const auto trace = run(example());
  const AttentionTap& tap = trace->attention[0];
  const PixelRow row = pixel_row(*trace, tap, 1, 43);
  Index allowed = 0;
  for (Index pixel = 0; pixel < 64; ++pixel) {
    const bool expected = pixel <= 43 && (43 - pixel < 9 || (43 - pixel) % 8 == 0);
    EXPECT_EQ(!std::isnan(row.rules[pixel]), expected) << pixel;
    EXPECT_EQ(tap.result.pattern->allowed(0, 43, pixel), expected) << pixel;
    if (!expected) continue;
    ++allowed;
    EXPECT_EQ(row.weights[pixel], tap.attention(1)(43, pixel)) << pixel;
    EXPECT_LE(row.weights[pixel], row.weights[row.strongest]);
  }
  EXPECT_EQ(row.allowed, allowed);
  EXPECT_EQ(row.others, 0);
}

TEST(ImageView, HitSelectsQueryThenKeyOfPinnedQuery) {
  const auto trace = run(example());
  testing::LayoutOptions look;
  const ViewLayout unpinned = testing::lay_out_view(*trace, "image", look);
  ASSERT_EQ(unpinned.refusal, "");
  // Without a pinned query, a hit selects the pixel as query.
  std::optional<Hit> hit;
  Point at{};
  for (at.y = 0; at.y < look.height && !hit; at.y += 3) {
    for (at.x = 0; at.x < look.width && !hit; at.x += 3) hit = unpinned.hit(at);
  }
  ASSERT_TRUE(hit);
  EXPECT_GE(hit->query, 0);
  EXPECT_EQ(hit->key, -1);
  look.settings.pinned_query = 20;
  const ViewLayout pinned = testing::lay_out_view(*trace, "image", look);
  const auto pinned_hit = pinned.hit({at.x, at.y});
  ASSERT_TRUE(pinned_hit);
  EXPECT_EQ(pinned_hit->query, 20);
  EXPECT_GE(pinned_hit->key, 0);
}

TEST(ImageView, IsLegibleAtAnySize) {
  const auto trace = run(example());
  for (const auto& [width, height] : {std::pair{1200.0, 700.0}, {700.0, 720.0}, {500.0, 1100.0}}) {
    testing::LayoutOptions look;
    look.width = width;
    look.height = height;
    EXPECT_EQ(testing::layout_error(testing::lay_out_view(*trace, "image", look).list), "")
        << width;
  }
}

TEST(ImageView, ExplainsThatTextHasNoPixels) {
  const Trace trace = testing::synthetic_trace(2, 2, 9);
  EXPECT_TRUE(testing::lay_out_view(trace, "image").refusal.starts_with("The tokens of this run"));
}

// A generative image model reads pixel n - 1 at step n.
TEST(ImageView, ShiftsPixelsByOneStep) {
  Session session;
  session.run.model = (testing::source_folder() / "tests" / "model-cases" / "image").string();
  session.run.ids = {0, 1, 2, 3, 0, 1, 2, 3, 3, 2, 1, 0};
  const auto trace = run(session);
  ASSERT_TRUE(trace->pixels);
  EXPECT_EQ(trace->pixels->key_shift, 1);
  const AttentionTap& tap = trace->attention[0];
  const PixelRow row = pixel_row(*trace, tap, 0, 4);
  EXPECT_EQ(row.others, tap.result.pattern->allowed(0, 4, 0) ? 1 : 0);  // start token
  for (Index pixel = 0; pixel < 4; ++pixel) {
    const bool allowed = tap.result.pattern->allowed(0, 4, pixel + 1);
    EXPECT_EQ(!std::isnan(row.rules[pixel]), allowed) << pixel;
    EXPECT_EQ(key_of_pixel(*trace, tap, pixel), pixel + 1);
  }
  EXPECT_EQ(testing::lay_out_view(*trace, "image").refusal, "");
}

// Both panels draw patches over the image: one panel draws the allowed patches, the other panel the
// weights.
TEST(ImageView, ShowsPatchesOverModelInput) {
  Session session;
  session.run.model = (testing::source_folder() / "tests" / "layouts" / "vit").string();
  session.run.input = sample_image().string();
  const auto trace = run(session);
  ASSERT_TRUE(trace->pixels);
  const Tensor& picture = trace->pixels->picture;
  ASSERT_EQ(picture.shape(), (Shape{12, 12, 3}));
  const Tensor expected = image_colours(session.run.input, 12, 12);
  for (Index i = 0; i < expected.size(); ++i) ASSERT_EQ(picture[i], expected[i]) << i;
  for (Index piece = 0; piece < 9; ++piece) {  // patches of 4 x 4 pixels
    for (Index c = 0; c < 3; ++c) {
      double sum = 0;
      for (Index n = 0; n < 16; ++n) {
        sum += static_cast<double>(expected(piece / 3 * 4 + n / 4, piece % 3 * 4 + n % 4, c));
      }
      EXPECT_NEAR(trace->pixels->colours[3 * piece + c], sum / 16, 1e-6) << piece;
    }
  }
  const ViewLayout layout = testing::lay_out_view(*trace, "image");
  std::vector<const ColourImage*> images;
  for (const Item& item : layout.list.items) {
    if (const auto* image = std::get_if<ColourImage>(&item)) images.push_back(image);
  }
  ASSERT_EQ(images.size(), 4U);  // two images, each before its overlay
  EXPECT_EQ(images[0]->colours.data(), picture.data());
  EXPECT_EQ(images[1]->colours.shape(), (Shape{3, 3, 4}));
  ASSERT_EQ(images[2]->colours.shape(), picture.shape());
  for (Index i = 0; i < expected.size(); i += 3) {
    const float grey = images[2]->colours[i];
    EXPECT_EQ(images[2]->colours[i + 1], grey);
    EXPECT_NEAR(grey, 0.299f * expected[i] + 0.587f * expected[i + 1] + 0.114f * expected[i + 2],
                1e-6);
  }
  // The largest weight has the last colour of the colour map.
  const AttentionTap& tap = trace->attention[0];
  const Tensor weights = tap.attention(0);
  // The default query is the patch in row 1, column 1. The class token precedes all patches.
  const Index query = 1 + 1 * 3 + 1;
  Index strongest = 0;
  for (Index piece = 0; piece < 9; ++piece) {
    if (weights(query, piece + 1) > weights(query, strongest + 1)) strongest = piece;
  }
  const Colour last = colour_map("viridis").colours.back();
  EXPECT_NEAR(images[3]->colours[4 * strongest], last.r / 255.0f, 1e-6);
  EXPECT_NEAR(images[3]->colours[4 * strongest + 1], last.g / 255.0f, 1e-6);
}

TEST(PixelPanel, FindsPixelAtPoint) {
  const PixelPanel panel{{10, 20, 40, 30}, 4, 3};
  for (Index pixel = 0; pixel < 12; ++pixel) {
    const Box box = panel.pixel(pixel);
    EXPECT_EQ(panel.at({box.x + 0.1, box.y + 0.1}), pixel);
    EXPECT_EQ(panel.at({box.right() - 0.1, box.bottom() - 0.1}), pixel);
  }
  EXPECT_EQ(panel.at({9, 25}), -1);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
