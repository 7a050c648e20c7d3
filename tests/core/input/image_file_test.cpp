#include "core/input/image_file.h"

#include <gtest/gtest.h>
#include <stb/stb_image_write.h>

#include <vector>

#include "core/base/error.h"
#include "core/base/file.h"
#include "tests/support/compare.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

void append(void* to, void* bytes, int count) {
  static_cast<std::string*>(to)->append(static_cast<const char*>(bytes),
                                        static_cast<std::size_t>(count));
}

struct Pixels {
  int width = 0, height = 0, channels = 1;
  std::vector<unsigned char> values{};

  std::string png() const {
    std::string file;
    stbi_write_png_to_func(append, &file, width, height, channels, values.data(), 0);
    return file;
  }
  std::string bmp() const {
    std::string file;
    stbi_write_bmp_to_func(append, &file, width, height, channels, values.data());
    return file;
  }
  std::string jpeg() const {
    std::string file;
    stbi_write_jpg_to_func(append, &file, width, height, channels, values.data(), 100);
    return file;
  }
};

std::vector<int> read_pixels(const std::string& file, Index width, Index height,
                             Index levels = 256) {
  const IntTensor pixels = parse_image(file, "p", width, height, levels);
  EXPECT_EQ(pixels.shape(), (Shape{height, width}));
  return {pixels.begin(), pixels.end()};
}

std::string error_message(const std::string& file, Index width = 2, Index height = 2,
                          Index levels = 256) {
  try {
    parse_image(file, "p", width, height, levels);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

const Pixels kSteps{3, 2, 1, {0, 63, 64, 127, 128, 255}};

TEST(ImageFile, ReadsImagesOfEqualSizeUnchanged) {
  EXPECT_EQ(read_pixels(kSteps.png(), 3, 2), (std::vector<int>{0, 63, 64, 127, 128, 255}));
  EXPECT_EQ(read_pixels(kSteps.bmp(), 3, 2), (std::vector<int>{0, 63, 64, 127, 128, 255}));
  const Pixels uniform{8, 8, 1, std::vector<unsigned char>(64, 200)};
  for (const int value : read_pixels(uniform.jpeg(), 8, 8)) EXPECT_NEAR(value, 200, 1);
}

TEST(ImageFile, DividesGreysEvenlyIntoLevels) {
  EXPECT_EQ(read_pixels(kSteps.png(), 3, 2, 4), (std::vector<int>{0, 0, 1, 1, 2, 3}));
  EXPECT_EQ(read_pixels(kSteps.png(), 3, 2, 2), (std::vector<int>{0, 0, 0, 0, 1, 1}));
  EXPECT_EQ(read_pixels(kSteps.png(), 3, 2, 512), (std::vector<int>{0, 126, 128, 254, 256, 510}));
}

TEST(ImageFile, ResizesToTheGrid) {
  const Pixels corners{2, 2, 1, {0, 100, 200, 60}};
  EXPECT_EQ(read_pixels(corners.png(), 1, 1), (std::vector<int>{90}));  // the mean
  EXPECT_EQ(read_pixels(corners.png(), 2, 1), (std::vector<int>{100, 80}));
  EXPECT_EQ(read_pixels(corners.png(), 4, 2), (std::vector<int>{0, 0, 100, 100, 200, 200, 60, 60}));
}

TEST(ImageFile, ConvertsColoursToGreyAndTransparentToWhite) {
  const Pixels colours{3, 1, 3, {255, 0, 0, 0, 255, 0, 0, 0, 255}};
  const std::vector<int> grey = read_pixels(colours.png(), 3, 1);
  EXPECT_EQ(grey, (std::vector<int>{76, 149, 28}));
  const Pixels translucent{3, 1, 2, {0, 255, 0, 0, 0, 51}};  // grey and opacity
  EXPECT_EQ(read_pixels(translucent.png(), 3, 1), (std::vector<int>{0, 255, 204}));
}

TEST(ImageFile, ReadsFiles) {
  const testing::TemporaryFolder folder;
  const auto path = folder.path() / "a.png";
  write_file(path, kSteps.png());
  const IntTensor pixels = image_pixels(path, 3, 2, 256);
  EXPECT_EQ(pixels(1, 2), 255);
  EXPECT_THROW(image_pixels(folder.path() / "none.png", 3, 2, 256), InputError);
}

TEST(ImageFile, RejectsFilesThatAreNotImages) {
  EXPECT_NE(error_message("").find("p: expected an image"), std::string::npos);
  EXPECT_NE(error_message("no picture at all").find("p: expected an image"), std::string::npos);
  const std::string png = kSteps.png();
  for (std::size_t length = 0; length + 20 < png.size(); ++length) {
    EXPECT_NE(error_message(png.substr(0, length)), "") << length;
  }
  for (std::size_t offset = 0; offset < png.size(); ++offset) {  // must not crash
    std::string damaged = png;
    damaged[offset] = static_cast<char>(damaged[offset] ^ 0x55);
    error_message(damaged);
  }
}

TEST(ImageFile, RejectsLargeImagesBeforeDecoding) {
  std::string png = kSteps.png();
  const auto write_size = [&](std::size_t offset, int side) {
    for (std::size_t n = 0; n < 4; ++n) {
      png[offset + n] = static_cast<char>(side >> (24 - 8 * static_cast<int>(n)) & 0xff);
    }
  };
  write_size(16, 16384);  // width and height in the header
  write_size(20, 16384);
  EXPECT_NE(error_message(png).find("found 16384 x 16384"), std::string::npos)
      << error_message(png);
  write_size(16, 1);
  write_size(20, 16385);
  EXPECT_NE(error_message(png).find("found 1 x 16385"), std::string::npos) << error_message(png);
}

TEST(ImageFile, RejectsEmptyGrids) {
  EXPECT_NE(error_message(kSteps.png(), 0, 2).find("width: expected 1 to"), std::string::npos);
  EXPECT_NE(error_message(kSteps.png(), 2, -1).find("height"), std::string::npos);
  EXPECT_NE(error_message(kSteps.png(), 2, 2, 1).find("levels: expected 2 to"), std::string::npos);
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
