// Randomly generated sequences for training and scoring synthetic tasks.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "core/base/random.h"
#include "core/model/model.h"
#include "core/training/train.h"

namespace attnscope {

class DrawnSequences {
 public:
  // Fills a sequence and its targets, both of the same length. Targets are initially -1, which
  // excludes a position from the loss.
  using Draw = std::function<void(Random& random, std::span<std::int32_t> inputs,
                                  std::span<std::int32_t> targets)>;

  DrawnSequences(Index length, std::uint64_t seed, Draw draw);

  // Generates the sequences `number`, number + 1, ...: inputs and targets [count, length]. The
  // result does not depend on earlier calls.
  void batch(std::uint64_t number, Index count, IntTensor& inputs, IntTensor& targets) const;

 private:
  Index length_;
  std::uint64_t seed_;
  Draw draw_;
};

// Loss and accuracy (top-1) over the targets of the first `count` sequences. Throws InputError for
// models that see later tokens.
Score score_of(const Model& model, const DrawnSequences& sequences, Index count);

}  // namespace attnscope
