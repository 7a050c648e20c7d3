// Sums of two numbers, one after another: "37+85=122 ". The digits of the sum need more computation
// than the other tokens, so that adaptive computation time meets hard and easy tokens (Graves,
// 2016, Adaptive computation time for recurrent neural networks, arXiv:1603.08983, section 3.3).
#include <string>

#include "core/training/drawn_task.h"

namespace attnscope {
namespace {

constexpr std::uint64_t kMaxDigits = 3;

std::uint64_t random_number(Random& random) {
  std::uint64_t end = 10;
  for (std::uint64_t digits = 1 + random.below(kMaxDigits); digits > 1; --digits) end *= 10;
  return random.below(end);
}

// Draws sums until the sequence is full. Targets: the digits of the sums and the space after them.
void draw_sums(Random& random, std::span<std::int32_t> inputs, std::span<std::int32_t> targets) {
  const std::size_t length = inputs.size();
  std::size_t position = 0;
  while (position < length) {
    const std::uint64_t a = random_number(random), b = random_number(random);
    const std::string terms = std::to_string(a) + "+" + std::to_string(b) + "=";
    const std::string text = terms + std::to_string(a + b) + " ";
    for (std::size_t n = 0; n < text.size() && position < length; ++n, ++position) {
      inputs[position] = text[n];
      const bool is_asked = n + 1 >= terms.size() && n + 1 < text.size();
      if (is_asked) targets[position] = text[n + 1];
    }
  }
}

}  // namespace

TaskInfo addition_task() {
  return drawn_byte_task<draw_sums, 16>("addition", "Addition", "sums of two numbers: 37+85=122");
}

}  // namespace attnscope
