#include "core/figure/gif.h"

#include <gif_lib.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <set>

#include "core/base/error.h"
#include "tests/support/golden.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

using Rgb = std::array<std::uint8_t, 3>;

Image make_image(int width, int height, const std::function<Rgb(int x, int y)>& colour) {
  Image image{width, height, {}};
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (const std::uint8_t channel : colour(x, y)) image.rgba.push_back(channel);
      image.rgba.push_back(255);
    }
  }
  return image;
}

struct DecodedGif {
  int width = 0, height = 0;
  std::vector<std::vector<Rgb>> frames;  // composited as a viewer does
  std::vector<int> delays;               // hundredths of a second
  bool is_endless = false;
};

struct Reader {
  const std::string& bytes;
  std::size_t position = 0;
};

int read_bytes(GifFileType* gif, GifByteType* out, int count) {
  auto& reader = *static_cast<Reader*>(gif->UserData);
  const auto n = std::min(static_cast<std::size_t>(count), reader.bytes.size() - reader.position);
  std::memcpy(out, reader.bytes.data() + reader.position, n);
  reader.position += n;
  return static_cast<int>(n);
}

DecodedGif decode(const std::string& bytes) {
  Reader reader{bytes};
  int error = 0;
  GifFileType* gif = DGifOpen(&reader, read_bytes, &error);
  if (gif == nullptr || DGifSlurp(gif) == GIF_ERROR) throw std::runtime_error("no GIF");
  DecodedGif result{gif->SWidth, gif->SHeight, {}, {}, false};
  std::vector<Rgb> canvas(static_cast<std::size_t>(gif->SWidth * gif->SHeight));
  for (int n = 0; n < gif->ImageCount; ++n) {
    GraphicsControlBlock control;
    if (DGifSavedExtensionToGCB(gif, n, &control) == GIF_ERROR) throw std::runtime_error("GCB");
    const SavedImage& image = gif->SavedImages[n];
    for (std::size_t i = 0; i < canvas.size(); ++i) {
      const int index = image.RasterBits[i];
      if (index == control.TransparentColor) continue;
      const GifColorType& c = gif->SColorMap->Colors[index];
      canvas[i] = {c.Red, c.Green, c.Blue};
    }
    result.frames.push_back(canvas);
    result.delays.push_back(control.DelayTime);
    for (int e = 0; e < image.ExtensionBlockCount; ++e) {
      const ExtensionBlock& block = image.ExtensionBlocks[e];
      if (block.Function == APPLICATION_EXT_FUNC_CODE && block.ByteCount == 11) {
        result.is_endless = std::memcmp(block.Bytes, "NETSCAPE2.0", 11) == 0;
      }
    }
  }
  DGifCloseFile(gif, &error);
  return result;
}

std::string encode(const std::vector<Image>& frames, double seconds) {
  GifEncoder encoder(frames[0].width, frames[0].height, compute_palette(frames), seconds);
  for (const Image& frame : frames) encoder.add(frame);
  return encoder.finish();
}

TEST(Gif, RoundTripsFewColoursExactly) {
  std::vector<Image> frames;
  for (int n = 0; n < 5; ++n) {
    frames.push_back(make_image(37, 11, [n](int x, int y) {
      return Rgb{static_cast<std::uint8_t>(x / 8 * 40), static_cast<std::uint8_t>(y * 20),
                 static_cast<std::uint8_t>(x == n ? 255 : 0)};
    }));
  }
  const DecodedGif gif = decode(encode(frames, 0.07));
  EXPECT_EQ(gif.width, 37);
  EXPECT_EQ(gif.height, 11);
  EXPECT_TRUE(gif.is_endless);
  ASSERT_EQ(gif.frames.size(), 5u);
  for (std::size_t n = 0; n < 5; ++n) {
    EXPECT_EQ(gif.delays[n], 7);
    for (std::size_t i = 0; i < gif.frames[n].size(); ++i) {
      for (std::size_t c = 0; c < 3; ++c) {
        ASSERT_EQ(gif.frames[n][i][c], frames[n].rgba[4 * i + c]) << n << " " << i;
      }
    }
  }
}

TEST(Gif, RoundTripsManyColoursApproximately) {
  const Image gradient = make_image(256, 256, [](int x, int y) {
    return Rgb{static_cast<std::uint8_t>(x), static_cast<std::uint8_t>(y),
               static_cast<std::uint8_t>((x + y) / 2)};
  });
  EXPECT_EQ(compute_palette({gradient}).colours.size(), 255u);
  const DecodedGif gif = decode(encode({gradient}, 0.1));
  int max_difference = 0;
  for (std::size_t i = 0; i < gif.frames[0].size(); ++i) {
    for (std::size_t c = 0; c < 3; ++c) {
      max_difference = std::max(max_difference,
                                std::abs(int{gif.frames[0][i][c]} - int{gradient.rgba[4 * i + c]}));
    }
  }
  EXPECT_LE(max_difference, 24);
}

TEST(Gif, StoresUnchangedFramesCompactly) {
  std::uint32_t state = 1;
  const Image noise = make_image(200, 200, [&](int, int) {
    state = state * 1664525 + 1013904223;
    return Rgb{static_cast<std::uint8_t>(state >> 28 << 4), 0, 0};
  });
  const std::size_t single = encode({noise}, 0.1).size();
  EXPECT_LT(encode({noise, noise, noise, noise}, 0.1).size(), single + single / 4);
}

TEST(Gif, RejectsInvalidSizes) {
  const Palette palette{{{0, 0, 0}}};
  EXPECT_THROW(GifEncoder(70000, 5, palette, 0.1), InputError);
  EXPECT_THROW(GifEncoder(0, 5, palette, 0.1), InputError);
}

// 255 colours are exact; 256 are approximated.
TEST(Gif, Keeps255Colours) {
  for (const int count : {255, 256}) {
    const Image image = make_image(count, 3, [count](int x, int) {
      if (x == count - 1) return Rgb{255, 250, 5};
      return Rgb{static_cast<std::uint8_t>(x % 16 * 10), static_cast<std::uint8_t>(x / 16 * 10), 0};
    });
    const Palette palette = compute_palette({image});
    const DecodedGif gif = decode(encode({image}, 0.1));
    int max_difference = 0;
    for (std::size_t i = 0; i < gif.frames[0].size(); ++i) {
      for (std::size_t c = 0; c < 3; ++c) {
        max_difference = std::max(max_difference,
                                  std::abs(int{gif.frames[0][i][c]} - int{image.rgba[4 * i + c]}));
      }
    }
    EXPECT_LE(max_difference, count == 255 ? 0 : 10) << count;
  }
}

std::string describe_palette(const Image& image) {
  std::string text;
  std::size_t n = 0;
  for (const Rgb& colour : compute_palette({image}).colours) {
    text += n++ % 12 == 0 ? "\n " : "";
    for (const std::uint8_t channel : colour) text += " " + std::to_string(int{channel});
    text += ",";
  }
  return std::to_string(n) + " colours" + text + "\n";
}

// Median cut splits the widest boxes, weighted by their number of pixels, at the median.
TEST(Gif, PalettesMatchGolden) {
  std::uint32_t state = 5;
  const auto random = [&](std::uint32_t count) {
    state = state * 1664525 + 1013904223;
    return (state >> 8) % count;
  };
  const Image uneven_image = make_image(60, 50, [&](int x, int y) {
    const auto level = static_cast<std::uint8_t>(random(60));
    if (x < 40) return Rgb{level, static_cast<std::uint8_t>(200 + random(40)), 7};
    return Rgb{static_cast<std::uint8_t>(random(256)), level,
               static_cast<std::uint8_t>(3 * y + static_cast<int>(random(90)))};
  });
  const Image binned_image =
      make_image(20, 15, [](int x, int y) {  // 300 colours; some bins contain two
        return Rgb{static_cast<std::uint8_t>(12 * x), static_cast<std::uint8_t>(16 * y + x % 2), 9};
      });
  const Image close_image = make_image(20, 20, [](int x, int y) {  // fewer bins than colours
    return Rgb{static_cast<std::uint8_t>(100 + x), static_cast<std::uint8_t>(30 + y), 200};
  });
  EXPECT_TRUE(testing::matches_golden(describe_palette(uneven_image) +
                                          describe_palette(binned_image) +
                                          describe_palette(close_image),
                                      "core/figure/palettes.txt"));
}

TEST(Gif, AcceptsSizesDelaysAndPalettesUpToTheirLimits) {
  const Palette black_palette{{{0, 0, 0}}};
  EXPECT_NO_THROW(GifEncoder(65535, 1, black_palette, 0.1));
  EXPECT_NO_THROW(GifEncoder(1, 65535, black_palette, 0.1));
  EXPECT_THROW(GifEncoder(65536, 1, black_palette, 0.1), InputError);
  EXPECT_THROW(GifEncoder(1, 65536, black_palette, 0.1), InputError);
  EXPECT_THROW(GifEncoder(1, 0, black_palette, 0.1), InputError);
  Palette palette;
  EXPECT_THROW(GifEncoder(1, 1, palette, 0.1), std::logic_error);
  palette.colours.resize(255);
  EXPECT_NO_THROW(GifEncoder(1, 1, palette, 0.1));
  palette.colours.resize(256);
  EXPECT_THROW(GifEncoder(1, 1, palette, 0.1), std::logic_error);
  const Image dot = make_image(2, 1, [](int, int) { return Rgb{1, 2, 3}; });
  EXPECT_EQ(decode(encode({dot}, 0)).delays[0], 1);
  EXPECT_EQ(decode(encode({dot}, 1e9)).delays[0], 65535);
  EXPECT_TRUE(encode({dot}, 0.1).starts_with("GIF89a"));
  for (const auto& [width, height] : {std::pair{1, 1}, {2, 2}}) {
    GifEncoder encoder(2, 1, black_palette, 0.1);
    const Image wrong_image = make_image(width, height, [](int, int) { return Rgb{0, 0, 0}; });
    EXPECT_THROW(encoder.add(wrong_image), std::logic_error);
    encoder.finish();
  }
}

// Colours that are not in the palette map to the nearest palette colour. Ties go to the first.
TEST(Gif, MapsToTheNearestColours) {
  GifEncoder encoder(4, 1, {{{10, 10, 10}, {20, 10, 10}, {200, 0, 0}, {0, 200, 0}}}, 0.1);
  const Rgb colours[] = {{15, 10, 10}, {16, 11, 9}, {90, 120, 0}, {255, 0, 100}};
  encoder.add(make_image(4, 1, [&](int x, int) { return colours[x]; }));
  const DecodedGif gif = decode(encoder.finish());
  EXPECT_EQ(gif.frames[0],
            (std::vector<Rgb>{{10, 10, 10}, {20, 10, 10}, {0, 200, 0}, {200, 0, 0}}));
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
