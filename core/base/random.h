// Portable random numbers: a run can be repeated from its seed, and a stream can be saved and
// resumed (its state is one number).
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace attnscope {

// SplitMix64 (Steele, Lea, Flood, 2014): equidistributed, period 2^64.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t bits() {
    const std::uint64_t result = at(state_, 0);
    state_ += kStep;
    return result;
  }
  // Result of call `number` (from 0) of bits() on a generator in this state.
  static std::uint64_t at(std::uint64_t state, std::uint64_t number) {
    std::uint64_t z = state + (number + 1) * kStep;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // Uniform in [0, 1), with 53 random bits.
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  // Uniform in [0, count); requires count > 0. The bias is below count / 2^64.
  std::uint64_t below(std::uint64_t count) {
    return static_cast<std::uint64_t>((static_cast<unsigned __int128>(bits()) * count) >> 64);
  }
  // Normal with mean 0 and variance 1 (Box and Muller, 1958).
  double normal() {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return radius * std::cos(2 * std::numbers::pi * uniform());
  }
  std::uint64_t state() const { return state_; }

 private:
  static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15u;
  std::uint64_t state_;
};

// Derives an independent seed for item `number` from `seed`.
inline std::uint64_t derived_seed(std::uint64_t seed, std::uint64_t number) {
  return Random(Random(seed).bits() ^ (number * 0xd1342543de82ef95u)).bits();
}

}  // namespace attnscope
