#include "core/checkpoint/torch_random.h"

#include <cmath>
#include <numbers>
#include <random>
#include <stdexcept>

namespace attnscope {
namespace {

constexpr Index kBlock = 16;

// Box-Muller transform: of 16 uniform numbers, the first 8 determine radii and the last 8 angles.
void make_normal(float* numbers) {
  for (Index n = 0; n < kBlock / 2; ++n) {
    const double radius = std::sqrt(-2 * std::log(1 - static_cast<double>(numbers[n])));
    const double angle = 2 * std::numbers::pi * static_cast<double>(numbers[n + kBlock / 2]);
    numbers[n] = static_cast<float>(radius * std::cos(angle));
    numbers[n + kBlock / 2] = static_cast<float>(radius * std::sin(angle));
  }
}

}  // namespace

Tensor torch_normal(Index count, std::uint64_t seed) {
  if (count < kBlock) throw std::logic_error("torch_normal");
  std::mt19937 engine(static_cast<std::uint32_t>(seed));
  const auto uniform = [&] {  // multiples of 2^-24
    return static_cast<float>(engine() & 0xffffffU) / 16777216.0f;
  };
  Tensor numbers({count});
  for (float& x : numbers) x = uniform();
  for (Index first = 0; first + kBlock <= count; first += kBlock) {
    make_normal(numbers.data() + first);
  }
  if (count % kBlock != 0) {  // torch draws the last 16 again
    float* last = numbers.data() + count - kBlock;
    for (Index n = 0; n < kBlock; ++n) last[n] = uniform();
    make_normal(last);
  }
  return numbers;
}

}  // namespace attnscope
