#include "core/training/repeat.h"

#include <algorithm>
#include <string>

#include "core/base/error.h"

namespace attnscope {

DrawnSequences repeated_sequences(Index vocabulary, Index length, std::uint64_t seed) {
  if (length < kMinRepeatedLength) {
    throw InputError("repeated sequences: expected a length of at least " +
                     std::to_string(kMinRepeatedLength) + " tokens, found " +
                     std::to_string(length));
  }
  if (vocabulary < 1) throw InputError("repeated sequences: expected a vocabulary, found none");
  return {length, seed,
          [vocabulary](Random& random, std::span<std::int32_t> inputs,
                       std::span<std::int32_t> targets) {
            const std::size_t min_period = std::max<std::size_t>(2, inputs.size() / 16);
            const std::size_t max_period = (inputs.size() + 1) / 2;
            const std::size_t period = min_period + random.below(max_period - min_period + 1);
            for (std::size_t i = 0; i < period; ++i) {
              inputs[i] =
                  static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(vocabulary)));
            }
            for (std::size_t i = period; i < inputs.size(); ++i) {
              inputs[i] = inputs[i % period];
              targets[i] = inputs[(i + 1) % period];
            }
          }};
}

}  // namespace attnscope
