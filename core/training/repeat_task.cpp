// Repeated random token sequences. Tokens are bytes, or learned from text files as in the task
// "text", so that the model can process any text.
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

}  // namespace

TaskInfo repeat_task() {
  return {.id = "repeat",
          .summary = "random token sequences that repeat themselves",
          .files = "",
          .check = check_repeat,
          .make = make_repeat};
}

}  // namespace attnscope
