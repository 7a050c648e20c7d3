// Tasks on generated sequences; training and scores use different sequences.
#pragma once

#include <memory>

#include "core/training/drawn_sequences.h"
#include "core/training/task.h"

namespace attnscope {

// Creates the task's sequences for a seed.
using SequenceFactory = std::function<DrawnSequences(std::uint64_t seed)>;

std::unique_ptr<Task> drawn_task(std::shared_ptr<const Tokenizer> tokenizer, std::uint64_t seed,
                                 const SequenceFactory& sequences);

inline constexpr Index kByteTokens = 256;

// Throws InputError if the plan has held-out texts, which tasks on generated sequences ignore.
void check_drawn(const TrainingPlan& plan);
// Like check_drawn(), but also requires a vocabulary of bytes, no texts and a minimum length.
void check_drawn_bytes(const TrainingPlan& plan, Index min_length);

// A task on sequences of at least min_length bytes, which `draw` (DrawnSequences::Draw) generates.
template <auto draw, Index min_length>
TaskInfo drawn_byte_task(std::string id, std::string label, std::string summary,
                         std::optional<ExpectedMap> expected = std::nullopt) {
  return {.id = std::move(id),
          .label = std::move(label),
          .summary = std::move(summary),
          .files = "",
          .check = [](const TrainingPlan& plan) { check_drawn_bytes(plan, min_length); },
          .make =
              [](const TrainingPlan& plan) {
                return drawn_task(byte_tokenizer(), plan.seed,
                                  [length = sequence_length(plan)](std::uint64_t seed) {
                                    return DrawnSequences(length, seed, draw);
                                  });
              },
          .expected = std::move(expected)};
}

}  // namespace attnscope
