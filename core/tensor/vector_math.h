// Elementary functions without branches or calls, for automatic vectorisation. Errors are a few
// units in the last place; NaN stays NaN; limits at infinity are exact.
#pragma once

#include <bit>
#include <cstdint>

namespace attnscope::vector_math {

// Adding 1.5 * 2^23 rounds to an integer: floats of that size have no fraction.
constexpr float kRounder = 12582912.0f;

// Cephes' expf: x = n ln 2 + r, |r| <= ln 2 / 2, with a polynomial for exp(r). Multiplies by 2^n in
// two steps, for correct results near both ends of the range. exp(-infinity) is 0.
inline float exp(float x) {
  const float clamped = x < -104.0f ? -104.0f : (x > 89.0f ? 89.0f : x);
  const float shifted = clamped * 1.44269504f + kRounder;
  const float n = shifted - kRounder;
  float r = clamped - n * 0.693359375f;
  r = r - n * -2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  const std::int32_t power =
      std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(kRounder);
  const std::int32_t half = power >> 1;
  const float first = std::bit_cast<float>((half + 127) << 23);
  const float second = std::bit_cast<float>((power - half + 127) << 23);
  return p * first * second;
}

inline float sigmoid(float x) {
  return 1.0f / (1.0f + exp(-x));
}

// Cephes' tanhf: a polynomial near 0, where 1 - 2 / (exp(2x) + 1) loses precision.
inline float tanh(float x) {
  const float s = x * x;
  float p = -5.70498872745e-3f;
  p = p * s + 2.06390887954e-2f;
  p = p * s - 5.37397155531e-2f;
  p = p * s + 1.33314422036e-1f;
  p = p * s - 3.33332819422e-1f;
  const float near = p * s * x + x;
  const float far = 1.0f - 2.0f / (exp(2.0f * x) + 1.0f);
  return s < 0.390625f ? near : far;
}

// x P(x^2) / Q(x^2) on [-4, 4], as in Eigen.
inline float erf(float x) {
  const float c = x < -4.0f ? -4.0f : (x > 4.0f ? 4.0f : x);
  const float s = c * c;
  float p = -2.72614225801306e-10f;
  p = p * s + 2.77068142495902e-08f;
  p = p * s - 2.10102402082508e-06f;
  p = p * s - 5.69250639462346e-05f;
  p = p * s - 7.34990630326855e-04f;
  p = p * s - 2.95459980854025e-03f;
  p = p * s - 1.60960333262415e-02f;
  float q = -1.45660718464996e-05f;
  q = q * s - 2.13374055278905e-04f;
  q = q * s - 1.68282697438203e-03f;
  q = q * s - 7.37332916720468e-03f;
  q = q * s - 1.42647390514189e-02f;
  return c * p / q;
}

}  // namespace attnscope::vector_math
