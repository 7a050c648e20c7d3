// Sequences that are drawn, not read: the endless supply of a task that makes its own, and how well
// a model does on it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "core/base/random.h"
#include "core/base/stop.h"
#include "core/model/model.h"
#include "core/training/train.h"

namespace attnscope {

class DrawnSequences {
 public:
  // Fills a sequence and its targets, both of the same length. Targets are -1 before the call, and
  // stay so where nothing counts.
  using Draw = std::function<void(Random& random, std::span<std::int32_t> inputs,
                                  std::span<std::int32_t> targets)>;

  DrawnSequences(Index length, std::uint64_t seed, Draw draw);

  // inputs and targets [count, length]: sequences number, number + 1, ..., each the same whatever
  // was asked for before.
  void batch(std::uint64_t number, Index count, IntTensor& inputs, IntTensor& targets) const;

 private:
  Index length_;
  std::uint64_t seed_;
  Draw draw_;
};

// Loss and accuracy (the likeliest token is the right one) over the targets of the first `count`
// sequences. InputError for a model that sees the tokens to come.
Score score_of(const Model& model, const DrawnSequences& sequences, Index count, const Stop& stop);

}  // namespace attnscope
