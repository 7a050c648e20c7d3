// Random sequences whose end repeats their beginning, a test for induction heads (Olsson et al.,
// 2022, In-context learning and induction heads, arXiv:2209.11895).
#pragma once

#include "core/training/drawn_sequences.h"

namespace attnscope {

// Sequences of `length` predictions: a segment of uniformly random tokens, repeated. Its length is
// drawn for each sequence, from a sixteenth to a half of the whole, so that the token to copy is at
// no fixed distance and must be found by its context. The second half repeats the first; targets
// are all tokens after the first repeated one, which is unpredictable. Throws InputError for a
// length below kMinRepeatedLength or an empty vocabulary.
inline constexpr Index kMinRepeatedLength = 8;
DrawnSequences repeated_sequences(Index vocabulary, Index length, std::uint64_t seed);

}  // namespace attnscope
