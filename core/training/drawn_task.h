// Task with generated sequences, scored on other generated sequences.
#pragma once

#include <memory>

#include "core/training/drawn_sequences.h"
#include "core/training/task.h"

namespace attnscope {

// Generator of sequences of the same kind for a seed.
using SequenceFactory = std::function<DrawnSequences(std::uint64_t seed)>;

std::unique_ptr<Task> drawn_task(std::shared_ptr<const Tokenizer> tokenizer, std::uint64_t seed,
                                 const SequenceFactory& sequences);

inline constexpr Index kByteTokens = 256;

// Checks common to all such tasks: no held-out texts, which would be ignored. Throws InputError.
void check_drawn(const TrainingPlan& plan);
// Also checks tasks on bytes: vocabulary of bytes, no texts, sufficient length.
void check_drawn_bytes(const TrainingPlan& plan, Index min_length);

}  // namespace attnscope
