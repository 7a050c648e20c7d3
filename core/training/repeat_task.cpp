// Repeated random token sequences. Tokens are bytes, or learned from text files as in the task
// "text", so that the model can process any text.
#include <algorithm>
#include <array>
#include <numeric>

#include "core/base/error.h"
#include "core/training/drawn_task.h"
#include "core/training/repeat.h"
#include "core/training/texts.h"

namespace attnscope {
namespace {

void check_repeat(const TrainingPlan& plan) {
  if (plan.text.empty() && plan.from.empty() && plan.model.vocabulary != kByteTokens) {
    throw InputError("text: expected files to learn " + std::to_string(plan.model.vocabulary) +
                     " tokens from (or model.vocabulary " + std::to_string(kByteTokens) +
                     ": bytes)");
  }
  check_drawn(plan);
  repeated_sequences(plan.model.vocabulary, sequence_length(plan), plan.seed);  // throws if invalid
}

std::unique_ptr<Task> make_repeat(const TrainingPlan& plan) {
  const bool is_bytes = plan.text.empty() && plan.from.empty();
  auto tokenizer = is_bytes ? byte_tokenizer() : make_tokenizer(plan, read_texts(plan));
  const Index vocabulary = tokenizer->vocabulary_size(), length = sequence_length(plan);
  return drawn_task(std::move(tokenizer), plan.seed, [=](std::uint64_t seed) {
    return repeated_sequences(vocabulary, length, seed);
  });
}

// Repeats distinct letters in a random order, so that the previous occurrence of a letter
// determines the next one. Targets are all repeated letters but the first.
void draw_repeated_letters(Random& random, std::span<std::int32_t> inputs,
                           std::span<std::int32_t> targets) {
  constexpr std::size_t kLetters = 26, kMinPeriod = 3;
  std::array<std::int32_t, kLetters> letters{};
  std::iota(letters.begin(), letters.end(), 'a');
  for (std::size_t i = kLetters; i > 1; --i) std::swap(letters[i - 1], letters[random.below(i)]);
  const std::size_t max_period = std::min(kLetters, (inputs.size() + 1) / 2);
  const std::size_t period = kMinPeriod + random.below(max_period - kMinPeriod + 1);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    inputs[i] = letters[i % period];
    if (i >= period) targets[i] = letters[(i + 1) % period];
  }
}

}  // namespace

TaskInfo repeat_task() {
  return {.id = "repeat",
          .label = "Repeated tokens",
          .summary = "random token sequences that repeat themselves",
          .files = "",
          .check = check_repeat,
          .make = make_repeat,
          .expected = induction_map()};
}

TaskInfo induction_task() {
  return drawn_byte_task<draw_repeated_letters, kMinRepeatedLength>(
      "induction", "Induction", "random orders of letters that repeat themselves: kqbkqbkq",
      induction_map());
}

}  // namespace attnscope
