#include "core/tensor/half.h"

#include <bit>
#include <cstring>

#ifdef __F16C__
#include <immintrin.h>
#endif

namespace attnscope {
namespace {

constexpr std::uint32_t kSignBit = 0x80000000u;
constexpr std::uint32_t kInfinity = 0x7f800000u;

std::uint16_t load(const void* bits, Index i) {
  std::uint16_t value;
  std::memcpy(&value, static_cast<const char*>(bits) + 2 * i, 2);
  return value;
}

void store(void* bits, Index i, std::uint16_t value) {
  std::memcpy(static_cast<char*>(bits) + 2 * i, &value, 2);
}

}  // namespace

float from_half(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000u) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1fu;
  const std::uint32_t fraction = bits & 0x3ffu;
  if (exponent == 0) {  // zero and subnormal numbers: fraction * 2^-24
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  if (exponent == 0x1f) return std::bit_cast<float>(sign | kInfinity | fraction << 13);
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
}

std::uint16_t to_half(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits & kSignBit) >> 16;
  const std::uint32_t magnitude = bits & ~kSignBit;
  const auto with_sign = [sign](std::uint32_t magnitude_bits) {
    return static_cast<std::uint16_t>(sign | magnitude_bits);
  };
  if (magnitude > kInfinity) return with_sign(0x7e00u | ((magnitude >> 13) & 0x3ffu));
  if (magnitude >= 0x477ff000u) return with_sign(0x7c00u);  // 65520 and above: infinity
  if (magnitude < 0x38800000u) {                            // below 2^-14: subnormal
    // Adding 0.5 makes the last bit of the sum worth 2^-24 and lets the processor round.
    const float rounded = std::bit_cast<float>(magnitude) + 0.5f;
    return with_sign(std::bit_cast<std::uint32_t>(rounded) - std::bit_cast<std::uint32_t>(0.5f));
  }
  const std::uint32_t odd_bit = (magnitude >> 13) & 1u;  // ties to even
  return with_sign((magnitude - (112u << 23) + 0xfffu + odd_bit) >> 13);
}

float from_bfloat(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

std::uint16_t to_bfloat(float value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & ~kSignBit) > kInfinity) return static_cast<std::uint16_t>((bits >> 16) | 0x40u);
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

void from_half(const void* bits, float* values, Index count) {
  Index i = 0;
#ifdef __F16C__
  for (; i + 8 <= count; i += 8) {
    const auto* at = reinterpret_cast<const __m128i*>(static_cast<const char*>(bits) + 2 * i);
    _mm256_storeu_ps(values + i, _mm256_cvtph_ps(_mm_loadu_si128(at)));
  }
#endif
  for (; i < count; ++i) values[i] = from_half(load(bits, i));
}

void to_half(const float* values, void* bits, Index count) {
  Index i = 0;
#ifdef __F16C__
  for (; i + 8 <= count; i += 8) {
    auto* at = reinterpret_cast<__m128i*>(static_cast<char*>(bits) + 2 * i);
    _mm_storeu_si128(at, _mm256_cvtps_ph(_mm256_loadu_ps(values + i), _MM_FROUND_TO_NEAREST_INT));
  }
#endif
  for (; i < count; ++i) store(bits, i, to_half(values[i]));
}

void from_bfloat(const void* bits, float* values, Index count) {
  for (Index i = 0; i < count; ++i) values[i] = from_bfloat(load(bits, i));
}

void to_bfloat(const float* values, void* bits, Index count) {
  for (Index i = 0; i < count; ++i) store(bits, i, to_bfloat(values[i]));
}

}  // namespace attnscope
