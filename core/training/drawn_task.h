// A task that draws its sequences, and others that it is scored on.
#pragma once

#include <memory>

#include "core/training/drawn_sequences.h"
#include "core/training/task.h"

namespace attnscope {

// The same kind of sequences for a seed.
using SequencesOf = std::function<DrawnSequences(std::uint64_t seed)>;

std::unique_ptr<Task> drawn_task(std::shared_ptr<const Tokenizer> tokenizer, std::uint64_t seed,
                                 const SequencesOf& sequences);

inline constexpr Index kByteTokens = 256;

// What all such tasks expect of a plan: no held-out texts, which they would not read. InputError.
void check_drawn(const TrainingPlan& plan);
// And of one whose tokens are bytes: as many tokens, no texts, and a sequence long enough.
void check_drawn_bytes(const TrainingPlan& plan, Index least_length);

}  // namespace attnscope
