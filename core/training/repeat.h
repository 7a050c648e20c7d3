// Random sequences whose end repeats what came just before: what induction heads are for (Olsson
// et al., 2022, In-context learning and induction heads, arXiv:2209.11895).
#pragma once

#include "core/training/drawn_sequences.h"

namespace attnscope {

// Sequences of `length` predictions: a segment of random tokens, all as likely, over and over. Its
// length is drawn anew for each sequence, from a sixteenth to a half of the whole, so that no fixed
// distance leads to the token to copy: it must be found by what stands before it. The second half
// repeats the first; what counts is every token after the first repeated one, which nothing
// foretells. InputError for a length below kLeastRepeated or an empty vocabulary.
inline constexpr Index kLeastRepeated = 8;
DrawnSequences repeated_sequences(Index vocabulary, Index length, std::uint64_t seed);

}  // namespace attnscope
