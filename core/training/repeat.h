// Random sequences that repeat their beginning, a test for induction heads (Olsson et al., 2022,
// In-context learning and induction heads, arXiv:2209.11895).
#pragma once

#include "core/training/drawn_sequences.h"

namespace attnscope {

// Sequences of `length` predictions that repeat a period of uniformly random tokens. The period is
// drawn for each sequence, from a sixteenth to a half of its length, so that the model must
// find the token to copy by its context. Targets are all repeated tokens but the first, which is
// unpredictable. Throws InputError for a length below kMinRepeatedLength or an empty vocabulary.
inline constexpr Index kMinRepeatedLength = 8;
DrawnSequences repeated_sequences(Index vocabulary, Index length, std::uint64_t seed);

}  // namespace attnscope
