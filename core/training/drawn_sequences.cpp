#include "core/training/drawn_sequences.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/base/stop.h"
#include "core/training/tally.h"

namespace attnscope {

DrawnSequences::DrawnSequences(Index length, std::uint64_t seed, Draw draw)
    : length_(length), seed_(seed), draw_(std::move(draw)) {}

void DrawnSequences::batch(std::uint64_t number, Index count, IntTensor& inputs,
                           IntTensor& targets) const {
  inputs = IntTensor({count, length_});
  targets = IntTensor::full({count, length_}, -1);
  const auto length = static_cast<std::size_t>(length_);
  for (Index b = 0; b < count; ++b) {
    Random random(derived_seed(seed_, number + static_cast<std::uint64_t>(b)));
    draw_(random, {inputs.data() + b * length_, length}, {targets.data() + b * length_, length});
  }
}

Score score_of(const Model& model, const DrawnSequences& sequences, Index count) {
  if (leaks_future(model.config)) {
    throw InputError(
        "model: expected a model with a causal mask, found a model that sees its targets");
  }
  constexpr Index kBatch = 16;
  Tally tally;
  for (Index first = 0; first < count; first += kBatch) {
    IntTensor inputs, targets;
    sequences.batch(static_cast<std::uint64_t>(first), std::min(kBatch, count - first), inputs,
                    targets);
    ForwardOptions options;
    tally.add(forward(model, inputs, options).value(), targets);
    check_stop();
  }
  return tally.score();
}

}  // namespace attnscope
