#include "core/checkpoint/torch_random.h"

#include <cmath>
#include <numbers>
#include <random>
#include <stdexcept>

namespace attnscope {

namespace {

constexpr Index kTogether = 16;

// Box and Muller's: of 16 uniform numbers the first 8 give radii, the others angles.
void make_normal(float* numbers) {
  for (Index n = 0; n < kTogether / 2; ++n) {
    const double radius = std::sqrt(-2 * std::log(1 - static_cast<double>(numbers[n])));
    const double angle = 2 * std::numbers::pi * static_cast<double>(numbers[n + kTogether / 2]);
    numbers[n] = static_cast<float>(radius * std::cos(angle));
    numbers[n + kTogether / 2] = static_cast<float>(radius * std::sin(angle));
  }
}

}  // namespace

Tensor torch_normal(Index count, std::uint64_t seed) {
  if (count < kTogether) throw std::logic_error("torch_normal");
  std::mt19937 engine(static_cast<std::uint32_t>(seed));
  const auto uniform = [&] {  // 24 bits
    return static_cast<float>(engine() & 0xffffffU) / 16777216.0f;
  };
  Tensor numbers({count});
  for (float& x : numbers) x = uniform();
  for (Index first = 0; first + kTogether <= count; first += kTogether) {
    make_normal(numbers.data() + first);
  }
  if (count % kTogether != 0) {  // the last 16 are drawn anew
    float* last = numbers.data() + count - kTogether;
    for (Index n = 0; n < kTogether; ++n) last[n] = uniform();
    make_normal(last);
  }
  return numbers;
}

}  // namespace attnscope
