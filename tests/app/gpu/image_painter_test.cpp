// Compares images of the shader with images scaled for picture files, pixel by pixel.
#include "app/gpu/image_painter.h"

#include <epoxy/gl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "app/gpu/heat_map_painter.h"
#include "core/figure/image.h"
#include "tests/app/gpu/framebuffer.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

Tensor colours(Shape shape, std::uint64_t seed) {
  Tensor numbers = testing::random_tensor(std::move(shape), seed);
  for (Index i = 0; i < numbers.size(); ++i) numbers[i] = 0.5f + 0.2f * numbers[i];
  return numbers;
}

class ImagePainting : public ::testing::Test {
 protected:
  ~ImagePainting() override { painter_.reset(); }

  // Largest difference between the framebuffer and the image scaled for files and blended over the
  // background.
  int difference(const Tensor& colours, const PixelBox& box, const PixelBox& clip) {
    target_.clear();
    painter_->draw({{}, colours}, box, clip, target_.height);
    const Image actual = read_framebuffer(target_.width, target_.height);
    const Image scaled = resized(image_of(colours), box.width, box.height);
    int max_difference = 0;
    for (int y = 0; y < target_.height; ++y) {
      for (int x = 0; x < target_.width; ++x) {
        const Colour expected = target_.blended(scaled, box, clip, x, y),
                     actual_colour = pixel_of(actual, x, y);
        max_difference = std::max({max_difference, std::abs(actual_colour.r - expected.r),
                                   std::abs(actual_colour.g - expected.g),
                                   std::abs(actual_colour.b - expected.b)});
      }
    }
    return max_difference;
  }
  int difference(const Tensor& colours, const PixelBox& box) {
    return difference(colours, box, {0, 0, target_.width, target_.height});
  }

  OffscreenTarget target_;
  std::unique_ptr<ImagePainter> painter_ = std::make_unique<ImagePainter>();
};

TEST_F(ImagePainting, MatchesFilesWhenEnlarged) {
  const Tensor picture = colours({5, 7, 3}, 3);
  EXPECT_LE(difference(picture, {3, 4, 70, 50}), 1);
  EXPECT_LE(difference(picture, {3, 4, 61, 47}), 1);
  EXPECT_LE(difference(picture, {-20, -10, 90, 80}), 1);
  EXPECT_LE(difference(picture, {3, 4, 70, 50}, {10, 11, 9, 8}), 1);
  EXPECT_LE(difference(picture, {3, 4, 7, 5}), 1);  // original size
}

TEST_F(ImagePainting, BlendsTransparentPixels) {
  EXPECT_LE(difference(colours({4, 4, 4}, 5), {8, 8, 64, 64}), 1);
}

TEST_F(ImagePainting, AveragesWhenShrunk) {
  Tensor stripes({512, 512, 3});
  for (Index i = 0; i < stripes.size(); ++i) stripes[i] = i / 3 % 2 == 0 ? 1.0f : 0.0f;
  painter_->draw({{}, stripes}, {0, 0, 64, 64}, {0, 0, 64, 64}, target_.height);
  const Image actual = read_framebuffer(target_.width, target_.height);
  for (int i = 4; i < 60; ++i) EXPECT_NEAR(pixel_of(actual, i, i).g, 128, 6) << i;
}

TEST_F(ImagePainting, ReleasesTexturesOfUndrawnImages) {
  const Tensor first = colours({2, 2, 3}, 1), second = colours({3, 2, 3}, 2);
  difference(first, {0, 0, 9, 9});
  difference(first, {5, 5, 9, 9});
  difference(second, {0, 0, 9, 9});
  EXPECT_EQ(painter_->cached_textures(), 2);
  painter_->end_frame();
  EXPECT_EQ(painter_->cached_textures(), 2);
  painter_->draw({{}, first}, {0, 0, 9, 9}, {0, 0, 0, 0}, target_.height);  // hidden but in use
  painter_->end_frame();
  EXPECT_EQ(painter_->cached_textures(), 1);
  painter_->draw({{}, Tensor()}, {0, 0, 9, 9}, {0, 0, 9, 9}, target_.height);  // nothing to draw
  painter_->end_frame();
  EXPECT_EQ(painter_->cached_textures(), 0);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
