// Random sequences that repeat their beginning, a test for induction heads (Olsson et al., 2022,
// In-context learning and induction heads, arXiv:2209.11895).
#pragma once

#include "core/training/drawn_sequences.h"

namespace attnscope {

inline constexpr Index kMinRepeatedLength = 8;

// Sequences of `length` predictions that repeat a period of uniformly random tokens. The length of
// the period is drawn for each sequence, from length / 16 to length / 2, so that the model must
// find the token to copy by its context. Targets are all repeated tokens but the first, which is
// unpredictable. Throws InputError for a length below kMinRepeatedLength or an empty vocabulary.
DrawnSequences repeated_sequences(Index vocabulary, Index length, std::uint64_t seed);

}  // namespace attnscope
