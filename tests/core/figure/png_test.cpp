#include "core/figure/png.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <random>

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/limits.h"
#include "tests/support/compare.h"
#include "tests/support/picture.h"

namespace attnscope {
namespace ATTNSCOPE_FILE {

Image make_noise(int width, int height, bool is_opaque) {
  std::mt19937 generator(7);
  Image image{width, height, {}};
  for (int i = 0; i < width * height * 4; ++i) {
    const bool is_alpha = i % 4 == 3;
    image.rgba.push_back(is_alpha && is_opaque ? 255
                                               : static_cast<std::uint8_t>(generator() & 255));
  }
  return image;
}

std::string make_chunk(const std::string& type, const std::string& data) {
  const auto big_endian = [](std::size_t n) {
    std::string s;
    for (int shift = 24; shift >= 0; shift -= 8) s += static_cast<char>(n >> shift & 255);
    return s;
  };
  const std::string body = type + data;
  return big_endian(data.size()) + body +
         big_endian(
             crc32(0, reinterpret_cast<const Bytef*>(body.data()), static_cast<uInt>(body.size())));
}

std::string compress_text(const std::string& text) {
  uLongf size = compressBound(text.size());
  std::string packed(size, '\0');
  compress(reinterpret_cast<Bytef*>(packed.data()), &size,
           reinterpret_cast<const Bytef*>(text.data()), text.size());
  packed.resize(size);
  return packed;
}

class Png : public ::testing::Test {
 protected:
  PictureMetadata read(const std::string& bytes) {
    write_file(path_, bytes);
    return read_png_metadata(path_);
  }
  std::string read_error(const std::string& bytes) {
    try {
      read(bytes);
    } catch (const InputError& e) {
      return e.what();
    }
    return "";
  }
  // Returns a PNG file with this chunk before its pixels.
  std::string insert_chunk(const std::string& chunk) const {
    std::string png = encode_png(make_noise(2, 2, true), {});
    return png.insert(8 + 25, chunk);
  }

  testing::TemporaryFolder folder_;
  std::filesystem::path path_ = folder_.path() / "picture.png";
};

TEST_F(Png, RoundTripsPixels) {
  for (const bool is_opaque : {true, false}) {
    const Image image = make_noise(37, 11, is_opaque);
    const Image decoded = testing::decode_png(encode_png(image, {}));
    EXPECT_EQ(decoded.width, 37);
    EXPECT_EQ(decoded.height, 11);
    EXPECT_EQ(decoded.rgba, image.rgba);
  }
}

TEST_F(Png, RoundTripsMetadata) {
  const PictureMetadata metadata{{"Title", "Karte \xC3\xBC"},
                                 {"Experiment", std::string(100000, 'x') + "{\"text\":\"a\\n\"}"}};
  EXPECT_EQ(read(encode_png(make_noise(3, 3, true), metadata)), metadata);
}

TEST_F(Png, ReadsAllKindsOfText) {
  EXPECT_EQ(read(insert_chunk(make_chunk("tEXt", std::string("Title\0\xFC", 7)))).at("Title"),
            "\xC3\xBC");
  const std::string text = "compressed text", packed = compress_text(text);
  EXPECT_EQ(read(insert_chunk(make_chunk("zTXt", std::string("A\0\0", 3) + packed))).at("A"), text);
  EXPECT_EQ(
      read(insert_chunk(make_chunk("iTXt", std::string("A\0\1\0de\0B\0", 9) + packed))).at("A"),
      text);
}

TEST_F(Png, RejectsDamagedFiles) {
  const std::string png = encode_png(make_noise(5, 5, true), {{"Title", "t"}});
  EXPECT_NE(read_error("").find("PNG"), std::string::npos);
  EXPECT_NE(read_error("GIF89a").find("PNG"), std::string::npos);
  for (std::size_t length = 0; length < png.size(); ++length) {
    EXPECT_NE(read_error(png.substr(0, length)), "") << length;
  }
  for (std::size_t position = 0; position < png.size() - 12;
       ++position) {  // checksums cover every bit
    std::string damaged = png;
    damaged[position] = static_cast<char>(damaged[position] ^ 0x11);
    EXPECT_NE(read_error(damaged), "") << position;
  }
  EXPECT_NE(read_error(png.substr(0, 8) + png.substr(33)).find("IHDR"), std::string::npos);
}

TEST_F(Png, RejectsMalformedText) {
  for (const std::string& data :
       {std::string("no end of the keyword"), std::string("A\0", 2), std::string("A\0\2\0\0\0x", 7),
        std::string("A\0\1\0\0\0not zlib", 14), std::string("A\0\0\0no end", 10)}) {
    EXPECT_NE(read_error(insert_chunk(make_chunk("iTXt", data))).find("malformed"),
              std::string::npos);
  }
  EXPECT_NE(read_error(insert_chunk(make_chunk("zTXt", std::string("A\0\0", 3)))).find("malformed"),
            std::string::npos);
}

TEST_F(Png, ReadsTextAfterThePixels) {
  std::string png = encode_png(make_noise(300, 300, false), {{"Title", "t"}});
  png.insert(png.size() - 12, make_chunk("tEXt", std::string("Comment\0last", 12)));
  EXPECT_EQ(read(png), (PictureMetadata{{"Comment", "last"}, {"Title", "t"}}));
}

TEST_F(Png, RejectsDecompressionBombs) {
  const auto text_chunk = [](std::size_t megabytes) {
    return make_chunk(
        "iTXt", std::string("A\0\1\0\0\0", 6) + compress_text(std::string(megabytes << 20, 'a')));
  };
  EXPECT_NE(read_error(insert_chunk(text_chunk(65))), "");
  const std::string large = text_chunk(48);  // reading it needs twice its size
  EXPECT_EQ(read_error(insert_chunk(large)), "");
  EXPECT_NE(read_error(insert_chunk(large + large + large)), "");
}

TEST_F(Png, RejectsInvalidKeywords) {
  EXPECT_THROW(encode_png(make_noise(1, 1, true), {{"", "x"}}), InputError);
  EXPECT_THROW(encode_png(make_noise(1, 1, true), {{std::string(80, 'k'), "x"}}), InputError);
}

// The file has three channels if every pixel is opaque, otherwise four.
TEST_F(Png, OmitsOpaqueAlpha) {
  constexpr std::size_t kColourType = 25;
  Image image = make_noise(3, 2, true);
  EXPECT_EQ(encode_png(image, {})[kColourType], 2);
  for (const std::size_t alpha_index : {std::size_t{3}, std::size_t{11}, std::size_t{23}}) {
    Image transparent = image;
    transparent.rgba[alpha_index] = 254;
    EXPECT_EQ(encode_png(transparent, {})[kColourType], 6);
    EXPECT_EQ(testing::decode_png(encode_png(transparent, {})).rgba, transparent.rgba);
  }
}

TEST_F(Png, StoresPrintSize) {
  const std::string png_without_size = encode_png(make_noise(2, 2, true), {});
  EXPECT_EQ(png_without_size.find("pHYs"), std::string::npos);
  const std::string png = encode_png(make_noise(2, 2, true), {}, 192);
  std::string pixels_per_metre;  // 192 dots per inch are 7559 per metre, in both directions
  for (int n = 0; n < 2; ++n) pixels_per_metre += std::string("\0\0\x1d\x87", 4);
  EXPECT_NE(png.find(make_chunk("pHYs", pixels_per_metre + '\1')), std::string::npos);
}

TEST_F(Png, AcceptsKeywordsUpToTheirLimits) {
  const PictureMetadata longest{{std::string(79, 'k'), "x"}, {"k ~", "y"}};
  EXPECT_EQ(read(encode_png(make_noise(1, 1, true), longest)), longest);
  for (const char* keyword : {"a\x1f", "a\x7f", "\xC3\xBC"}) {
    EXPECT_THROW(encode_png(make_noise(1, 1, true), {{keyword, "x"}}), InputError) << keyword;
  }
}

TEST_F(Png, ReadsLatin1Text) {
  EXPECT_EQ(read(insert_chunk(make_chunk("tEXt", std::string("A\0\x7f\x80\xA0\xFF", 6)))).at("A"),
            "\x7f\xC2\x80\xC2\xA0\xC3\xBF");
}

TEST_F(Png, ReadsImagesUpToTheLargestSide) {
  const int max_side = limits::kMaxImageSide;
  for (const auto& [width, height] : {std::pair{1, 0}, {0, 1}}) {
    const auto encode_side = [&](int side) {
      return encode_png(make_noise(width == 1 ? side : 1, height == 1 ? side : 1, true), {});
    };
    EXPECT_EQ(read_error(encode_side(max_side)), "");
    EXPECT_NE(read_error(encode_side(max_side + 1)).find("image too large"), std::string::npos);
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
