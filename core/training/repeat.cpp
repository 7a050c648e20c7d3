#include "core/training/repeat.h"

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/random.h"
#include "core/training/tally.h"

namespace attnscope {

RepeatStream::RepeatStream(Index vocabulary, Index length, std::uint64_t seed)
    : vocabulary_(vocabulary), length_(length), seed_(seed) {
  if (length < kLeastLength) {
    throw InputError("repeated sequences: expected a length of at least " +
                     std::to_string(kLeastLength) + " tokens, found " + std::to_string(length));
  }
  if (vocabulary < 1) throw InputError("repeated sequences: the vocabulary is empty");
}

void RepeatStream::batch(std::uint64_t number, Index count, IntTensor& inputs,
                         IntTensor& targets) const {
  inputs = IntTensor({count, length_});
  targets = IntTensor::full({count, length_}, -1);
  const Index least = std::max<Index>(2, length_ / 16), most = (length_ + 1) / 2;
  std::vector<std::int32_t> segment;
  for (Index b = 0; b < count; ++b) {
    Random random(mixed_seed(seed_, number + static_cast<std::uint64_t>(b)));
    const auto choices = static_cast<std::uint64_t>(most - least + 1);
    const Index period = least + static_cast<Index>(random.below(choices));
    segment.resize(static_cast<std::size_t>(period));
    for (std::int32_t& token : segment) {
      token = static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(vocabulary_)));
    }
    for (Index i = 0; i < length_; ++i) {
      inputs(b, i) = segment[static_cast<std::size_t>(i % period)];
      if (i >= period) targets(b, i) = segment[static_cast<std::size_t>((i + 1) % period)];
    }
  }
}

Score repeat_score(const Model& model, const RepeatStream& stream, Index count, const Stop& stop) {
  if (looks_ahead(model.config)) {
    throw InputError(
        "model: expected one with a causal mask, found one that sees what it is to "
        "predict");
  }
  constexpr Index kAtATime = 16;
  Tally tally;
  for (Index first = 0; first < count; first += kAtATime) {
    const Index some = std::min(kAtATime, count - first);
    IntTensor inputs, targets;
    stream.batch(static_cast<std::uint64_t>(first), some, inputs, targets);
    ForwardOptions options;
    options.stop = stop;
    tally.add(forward(model, inputs, options).value(), targets);
    stop.check();
  }
  return tally.score();
}

}  // namespace attnscope
