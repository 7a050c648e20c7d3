// Recall after a delay: "!k" presents a letter, distractor digits follow, and the letter is the
// target after "?". Tests memory across segments; gated residual connections stabilise training
// (Parisotto et al., 2019, Stabilizing transformers for reinforcement learning, arXiv:1910.06764).
#include "core/training/drawn_task.h"

namespace attnscope {
namespace {

std::int32_t random_letter(Random& random) {
  return static_cast<std::int32_t>('a' + random.below(26));
}

std::int32_t random_digit(Random& random) {
  return static_cast<std::int32_t>('0' + random.below(10));
}

// Draws recalls, each after a delay of at most half of the sequence. Targets: letters after "?".
void draw_recalls(Random& random, std::span<std::int32_t> inputs, std::span<std::int32_t> targets) {
  const std::size_t length = inputs.size();
  std::size_t position = 0;
  const auto add_token = [&](std::int32_t token) {
    if (position < length) inputs[position++] = token;
  };
  while (position < length) {
    const std::int32_t letter = random_letter(random);
    add_token('!');
    add_token(letter);
    for (std::uint64_t n = 1 + random.below(length / 2); n > 0; --n)
      add_token(random_digit(random));
    if (position < length) targets[position] = letter;
    add_token('?');
    add_token(letter);
    for (std::uint64_t n = random.below(4); n > 0; --n) add_token(random_digit(random));
  }
}

// Keys of the queries "?": the letter after the last "!".
ExpectedKeys recall_keys(const Batch& batch) {
  ExpectedKeys keys(static_cast<std::size_t>(batch.ids.size()));
  Index letter = 0;
  for (Index i = 0; i < batch.ids.size(); ++i) {
    if (batch.ids[i] == '!') letter = i + 1;
    if (batch.ids[i] == '?') keys[static_cast<std::size_t>(i)] = {letter};
  }
  return keys;
}

}  // namespace

TaskInfo recall_task() {
  return drawn_byte_task<draw_recalls, 16>(
      "recall", "Delayed recall", "recall of a letter after a delay: !k4071?k",
      ExpectedMap{"the letter after the last \"!\"", AttentionKind::Self, recall_keys});
}

}  // namespace attnscope
