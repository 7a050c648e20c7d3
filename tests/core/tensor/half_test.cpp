#include "core/tensor/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

namespace attnscope {
namespace ATTNSCOPE_FILE {

// Decodes binary16 by its definition: sign, exponent with bias 15, 10-bit fraction.
double half_by_definition(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 0x1f, fraction = bits & 0x3ff;
  const double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == 31) return fraction ? std::nan("") : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

TEST(Half, DecodesEveryNumber) {
  for (int i = 0; i < 65536; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    const double expected = half_by_definition(bits);
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(from_half(bits)));
      EXPECT_TRUE(std::isnan(from_half(to_half(from_half(bits)))));
    } else {
      EXPECT_EQ(from_half(bits), expected) << i;
      EXPECT_EQ(to_half(from_half(bits)), bits) << i;
    }
  }
}

TEST(Half, RoundsToNearestEven) {
  // Tests values just below, at and just above the middle between every two neighbours.
  for (int i = 0; i < 0x7bff; ++i) {
    const auto low = static_cast<std::uint16_t>(i), high = static_cast<std::uint16_t>(i + 1);
    const float middle =
        static_cast<float>((half_by_definition(low) + half_by_definition(high)) / 2);
    EXPECT_EQ(to_half(middle), i % 2 == 0 ? low : high) << i;
    EXPECT_EQ(to_half(std::nextafter(middle, 0.0f)), low) << i;
    EXPECT_EQ(to_half(std::nextafter(middle, INFINITY)), high) << i;
    EXPECT_EQ(to_half(-middle), (i % 2 == 0 ? low : high) | 0x8000) << i;
  }
  EXPECT_EQ(to_half(65519.0f), 0x7bff);
  EXPECT_EQ(to_half(65520.0f), 0x7c00);
  EXPECT_EQ(to_half(1e30f), 0x7c00);
  EXPECT_EQ(to_half(1e-30f), 0);
}

TEST(Bfloat, KeepsUpperHalf) {
  for (int i = 0; i < 65536; ++i) {
    const auto bits = static_cast<std::uint16_t>(i);
    const float value = from_bfloat(bits);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(from_bfloat(to_bfloat(value))));
    } else {
      EXPECT_EQ(to_bfloat(value), bits);
    }
  }
  EXPECT_EQ(to_bfloat(std::bit_cast<float>(0x3f808000u)), 0x3f80);  // ties to even
  EXPECT_EQ(to_bfloat(std::bit_cast<float>(0x3f818000u)), 0x3f82);
  EXPECT_EQ(to_bfloat(std::bit_cast<float>(0x3f808001u)), 0x3f81);
  EXPECT_EQ(to_bfloat(std::numeric_limits<float>::max()), 0x7f80);
}

TEST(Half, ConvertsArraysLikeScalars) {
  std::vector<float> values;
  for (int i = -40; i < 41; ++i) values.push_back(static_cast<float>(i) * 1.2345e-3f);
  values.insert(values.end(), {1e9f, -1e9f, 1e-9f, INFINITY});
  std::vector<char> bytes(2 * values.size() + 1);
  void* unaligned = bytes.data() + 1;
  const auto n = static_cast<Index>(values.size());
  std::vector<float> back(values.size());
  to_half(values.data(), unaligned, n);
  from_half(unaligned, back.data(), n);
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(back[i], from_half(to_half(values[i])));
  }
  to_bfloat(values.data(), unaligned, n);
  from_bfloat(unaligned, back.data(), n);
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(back[i], from_bfloat(to_bfloat(values[i])));
  }
}

}  // namespace ATTNSCOPE_FILE
}  // namespace attnscope
