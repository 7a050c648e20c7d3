// Associative recall: pairs of a letter and a digit in random order, in which a letter always has
// the same digit: b3k7b3. The digit of a letter that occurred before is the target (Arora et al.,
// 2023, Zoology, arXiv:2312.04927).
#include <array>

#include "core/training/drawn_task.h"

namespace attnscope {
namespace {

// Draws pairs of few letters, so that most of them occur again.
void draw_associations(Random& random, std::span<std::int32_t> inputs,
                       std::span<std::int32_t> targets) {
  constexpr std::uint64_t kLetters = 8, kDigits = 10, kMinKeys = 2;
  const std::uint64_t max_keys = std::max<std::uint64_t>(kMinKeys, inputs.size() / 4);
  const std::uint64_t keys = std::min(kLetters, kMinKeys + random.below(max_keys - kMinKeys + 1));
  std::array<std::int32_t, kLetters> letters{}, digits{};
  for (std::size_t i = 0; i < kLetters; ++i) letters[i] = 'a' + static_cast<std::int32_t>(i);
  for (std::size_t i = kLetters; i > 1; --i) std::swap(letters[i - 1], letters[random.below(i)]);
  for (std::int32_t& digit : digits) digit = '0' + static_cast<std::int32_t>(random.below(kDigits));
  std::array<bool, kLetters> occurred{};
  for (std::size_t i = 0; i < inputs.size(); i += 2) {
    const std::size_t key = random.below(keys);
    inputs[i] = letters[key];
    if (i + 1 < inputs.size()) inputs[i + 1] = digits[key];
    if (occurred[key]) targets[i] = digits[key];
    occurred[key] = true;
  }
}

}  // namespace

TaskInfo associative_task() {
  ExpectedMap expected = induction_map();
  expected.description = "the digits after earlier occurrences of the letter";
  return drawn_byte_task<draw_associations, 8>("associative", "Associative recall",
                                               "the digit that a letter had before: b3k7b3",
                                               std::move(expected));
}

}  // namespace attnscope
