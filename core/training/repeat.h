// Random sequences whose end repeats what came just before: what induction heads are for (Olsson
// et al., 2022, In-context learning and induction heads, arXiv:2209.11895).
#pragma once

#include <cstdint>

#include "core/base/stop.h"
#include "core/model/model.h"
#include "core/training/train.h"

namespace attnscope {

// Sequences of `length` predictions: a segment of random tokens, all as likely, over and over. Its
// length is drawn anew for each sequence, from a sixteenth to a half of the whole, so that no fixed
// distance leads to the token to copy: it must be found by what stands before it. The second half
// repeats the first; what counts is every token after the first repeated one, which nothing
// foretells.
class RepeatStream {
 public:
  static constexpr Index kLeastLength = 8;

  // InputError for a shorter length or an empty vocabulary.
  RepeatStream(Index vocabulary, Index length, std::uint64_t seed);

  // inputs and targets [count, length]: sequences number, number + 1, ...; targets that do not
  // count are -1.
  void batch(std::uint64_t number, Index count, IntTensor& inputs, IntTensor& targets) const;

 private:
  Index vocabulary_, length_;
  std::uint64_t seed_;
};

// Loss and accuracy (the likeliest token is the right one) over `count` sequences of that stream.
// InputError for a model that sees the tokens to come.
Score repeat_score(const Model& model, const RepeatStream& stream, Index count, const Stop& stop);

}  // namespace attnscope
