// Compares heat maps of the shader with the CPU's, pixel by pixel.
#include "app/gpu/heat_map_painter.h"

#include <epoxy/gl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "app/gpu/compute_backend.h"
#include "core/base/error.h"
#include "core/figure/colour_map.h"
#include "core/figure/heat_map.h"
#include "tests/app/gpu/framebuffer.h"
#include "tests/app/gpu/part_cases.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

constexpr int kWidth = OffscreenTarget::width, kHeight = OffscreenTarget::height;

class HeatMapPainting : public ::testing::Test {
 protected:
  ~HeatMapPainting() override { painter_.reset(); }

  // Draws in the box and compares each pixel of the framebuffer with the CPU's image.
  void expect_matches_cpu(const HeatMap& map, const PixelBox& box, const PixelBox& clip) {
    target_.clear();
    painter_->draw(map, box, clip, kHeight);
    const Image actual = read_framebuffer(kWidth, kHeight);
    const Image expected = rasterise(map, box.width, box.height);
    int wrong_pixels = 0, rounded_pixels = 0;
    for (int y = 0; y < kHeight; ++y) {
      for (int x = 0; x < kWidth; ++x) {
        const Colour expected_colour = OffscreenTarget::blended(expected, box, clip, x, y);
        const Colour actual_colour = pixel_of(actual, x, y);
        if (actual_colour == expected_colour) continue;
        ++(are_neighbours(map, actual_colour, expected_colour) ? rounded_pixels : wrong_pixels);
      }
    }
    EXPECT_EQ(wrong_pixels, 0);
    EXPECT_LE(rounded_pixels, kWidth * kHeight / 200);  // float32 rounding selects a neighbour
  }
  void expect_matches_cpu(const HeatMap& map, const PixelBox& box) {
    expect_matches_cpu(map, box, {0, 0, kWidth, kHeight});
  }

  // True if two colours are neighbours in the colour map.
  static bool are_neighbours(const HeatMap& map, Colour a, Colour b) {
    const auto& colours = colour_map(map.colour_map).colours;
    for (std::size_t n = 1; n < colours.size(); ++n) {
      if ((colours[n - 1] == a && colours[n] == b) || (colours[n - 1] == b && colours[n] == a)) {
        return true;
      }
    }
    return false;
  }

  static HeatMap map_of(const Tensor& values) {
    HeatMap map;
    map.values = values;
    map.height = static_cast<double>(values.dim(0));
    map.width = static_cast<double>(values.dim(1));
    map.least = -1;
    map.most = 1;
    return map;
  }

  OffscreenTarget target_;
  std::unique_ptr<HeatMapPainter> painter_ = std::make_unique<HeatMapPainter>(false);
};

constexpr PixelBox kBox{7, 11, 61, 53};

TEST_F(HeatMapPainting, MatchesCpuOnLargeCells) {
  expect_matches_cpu(map_of(testing::random_tensor({5, 7}, 1)), kBox);
}

TEST_F(HeatMapPainting, MatchesCpuOnMoreCellsThanPixels) {
  expect_matches_cpu(map_of(testing::random_tensor({211, 307}, 2)), kBox);
}

TEST_F(HeatMapPainting, MatchesCpuOnMoreCellsThanPixelsOnOneAxis) {
  expect_matches_cpu(map_of(testing::random_tensor({3, 500}, 3)), kBox);
  expect_matches_cpu(map_of(testing::random_tensor({500, 3}, 4)), kBox);
}

TEST_F(HeatMapPainting, MatchesCpuWithoutPooling) {
  HeatMap map = map_of(testing::random_tensor({211, 307}, 5));
  map.max_pooled = false;
  expect_matches_cpu(map, kBox);
}

TEST_F(HeatMapPainting, PreservesThinDiagonal) {
  Tensor values = Tensor::zeros({1000, 1000});
  for (Index i = 0; i < 1000; ++i) values(i, i) = 1;
  HeatMap map = map_of(values);
  map.least = 0;
  expect_matches_cpu(map, {0, 0, 50, 50});
  const Image image = read_framebuffer(kWidth, kHeight);
  const Colour brightest = colour_map(map.colour_map).colours.back();
  for (int i = 0; i < 50; ++i) EXPECT_EQ(pixel_of(image, i, i), brightest) << i;
}

TEST_F(HeatMapPainting, MatchesCpuOnVisiblePartBeyondMap) {
  HeatMap map = map_of(testing::random_tensor({20, 30}, 6));
  map.row = 3.25;
  map.column = -2.5;
  map.height = 9.5;
  map.width = 40.75;
  expect_matches_cpu(map, kBox);
}

TEST_F(HeatMapPainting, ClipsBoxPartlyOutside) {
  const HeatMap map = map_of(testing::random_tensor({20, 30}, 7));
  expect_matches_cpu(map, kBox, {20, 30, 17, 5});
  expect_matches_cpu(map, {-20, -10, 80, 60});
  expect_matches_cpu(map, {60, 50, 80, 60});
}

TEST_F(HeatMapPainting, DrawsNaNAsMissing) {
  Tensor values = testing::random_tensor({9, 12}, 8);
  values(2, 3) = std::numeric_limits<float>::quiet_NaN();
  values(8, 11) = std::numeric_limits<float>::infinity();
  values(0, 0) = -std::numeric_limits<float>::infinity();
  HeatMap map = map_of(values);
  expect_matches_cpu(map, kBox);  // the background shows through
  map.missing = {90, 90, 90, 255};
  expect_matches_cpu(map, kBox);
  expect_matches_cpu(map, {5, 5, 4, 4});  // pooled: numbers take precedence over NaN
}

TEST_F(HeatMapPainting, MatchesCpuOnEveryColourMap) {
  for (const ColourMap& colours : colour_maps()) {
    SCOPED_TRACE(colours.id);
    HeatMap map = map_of(testing::random_tensor({140, 130}, 9));
    map.colour_map = colours.id;
    expect_matches_cpu(map, kBox);
  }
}

TEST_F(HeatMapPainting, AcceptsEmptyRangeAndEmptyBox) {
  HeatMap map = map_of(testing::random_tensor({4, 4}, 10));
  map.most = map.least;
  expect_matches_cpu(map, kBox);
  painter_->draw(HeatMap{}, kBox, kBox, kHeight);
  painter_->draw(map, {0, 0, 0, 5}, kBox, kHeight);
}

TEST_F(HeatMapPainting, MatchesCpuBeyondTextureSize) {
  GLint max_size = 0;
  glGetIntegerv(GL_MAX_TEXTURE_SIZE, &max_size);
  expect_matches_cpu(map_of(testing::random_tensor({2, max_size + 10}, 11)), kBox);
  EXPECT_THROW(painter_->draw(map_of(testing::random_tensor({2, 2}, 1)), {0, 0, max_size + 1, 5},
                              kBox, kHeight),
               WorkError);
}

TEST_F(HeatMapPainting, ReleasesTexturesOfUndrawnMaps) {
  const HeatMap a = map_of(testing::random_tensor({20, 30}, 12));
  const HeatMap b = map_of(testing::random_tensor({20, 30}, 13));
  const PixelBox whole_target{0, 0, kWidth, kHeight};
  painter_->draw(a, kBox, whole_target, kHeight);
  painter_->draw(b, kBox, whole_target, kHeight);
  painter_->end_frame();
  EXPECT_EQ(painter_->cached_textures(), 4);  // cells and pixels of each map
  painter_->draw(a, kBox, whole_target, kHeight);
  EXPECT_EQ(painter_->cached_textures(), 4);
  painter_->end_frame();
  EXPECT_EQ(painter_->cached_textures(), 1);  // only the pixels were used
  painter_->end_frame();
  EXPECT_EQ(painter_->cached_textures(), 0);
}

TEST_F(HeatMapPainting, KeepsTexturesOfHiddenMapsInUse) {
  const HeatMap map = map_of(testing::random_tensor({6, 6}, 14));
  painter_->draw(map, kBox, {0, 0, kWidth, kHeight}, kHeight);
  painter_->end_frame();
  target_.clear();
  const Image cleared = read_framebuffer(kWidth, kHeight);
  painter_->draw(map, kBox, {0, 0, 0, 0}, kHeight);
  painter_->end_frame();
  EXPECT_EQ(painter_->cached_textures(), 1);
  EXPECT_EQ(read_framebuffer(kWidth, kHeight).rgba, cleared.rgba);
}

TEST_F(HeatMapPainting, PreservesGlState) {
  glViewport(1, 2, 3, 4);
  glScissor(5, 6, 7, 8);
  glEnable(GL_SCISSOR_TEST);
  glDisable(GL_BLEND);
  glEnable(GL_CULL_FACE);
  glBlendFuncSeparate(GL_ONE, GL_ZERO, GL_ZERO, GL_ONE);
  glActiveTexture(GL_TEXTURE1);
  glBindTexture(GL_TEXTURE_2D, target_.texture());
  glPixelStorei(GL_UNPACK_ALIGNMENT, 2);
  painter_->draw(map_of(testing::random_tensor({4, 4}, 14)), kBox, kBox, kHeight);
  std::array<GLint, 4> box{};
  glGetIntegerv(GL_VIEWPORT, box.data());
  EXPECT_EQ(box, (std::array<GLint, 4>{1, 2, 3, 4}));
  glGetIntegerv(GL_SCISSOR_BOX, box.data());
  EXPECT_EQ(box, (std::array<GLint, 4>{5, 6, 7, 8}));
  EXPECT_TRUE(glIsEnabled(GL_SCISSOR_TEST));
  EXPECT_FALSE(glIsEnabled(GL_BLEND));
  EXPECT_TRUE(glIsEnabled(GL_CULL_FACE));
  const auto expect_integer = [](GLenum name, GLint expected) {
    GLint value = -1;
    glGetIntegerv(name, &value);
    EXPECT_EQ(value, expected) << name;
  };
  expect_integer(GL_BLEND_SRC_RGB, GL_ONE);
  expect_integer(GL_BLEND_DST_ALPHA, GL_ONE);
  expect_integer(GL_ACTIVE_TEXTURE, GL_TEXTURE1);
  expect_integer(GL_TEXTURE_BINDING_2D, static_cast<GLint>(target_.texture()));
  expect_integer(GL_UNPACK_ALIGNMENT, 2);
  expect_integer(GL_DRAW_FRAMEBUFFER_BINDING, static_cast<GLint>(target_.framebuffer()));
  expect_integer(GL_CURRENT_PROGRAM, 0);
  expect_integer(GL_VERTEX_ARRAY_BINDING, 0);
}

TEST_F(HeatMapPainting, DrawsGpuAttentionFromItsTexture) {
  ComputeBackend backend(make_headless_context(target_.context.get()));
  const Part part = testing::base_part({.heads = 3, .kv_heads = 3, .queries = 90, .keys = 130});
  const PartResult result = backend.run(part, {.device_attention = true});
  HeatMap map;
  map.device = result.device;
  map.height = 90;
  map.width = 130;
  map.most = 0.05;
  HeatMapPainter sharing_painter(true);
  for (map.plane = 0; map.plane < 3; ++map.plane) {
    target_.clear();
    sharing_painter.draw(map, kBox, {0, 0, kWidth, kHeight}, kHeight);
    const Image direct = read_framebuffer(kWidth, kHeight);
    EXPECT_EQ(sharing_painter.cached_textures(),
              1 + static_cast<int>(map.plane));  // no cells uploaded
    expect_matches_cpu(map, kBox);               // painter_ downloads the cells
    EXPECT_EQ(direct.rgba, read_framebuffer(kWidth, kHeight).rgba);
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
