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

}  // namespace attnscope
