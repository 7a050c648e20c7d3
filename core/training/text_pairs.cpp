#include "core/training/text_pairs.h"

#include <algorithm>
#include <limits>

#include "core/base/stop.h"

namespace attnscope {

Batch pair_batch(std::span<const TextPair> pairs, std::int32_t start) {
  std::size_t longest = 0;
  for (const TextPair& pair : pairs) longest = std::max(longest, pair.target.size());
  const auto count = static_cast<Index>(pairs.size()), length = static_cast<Index>(longest) + 1;
  const auto source_length = static_cast<Index>(pairs.front().source.size());
  Batch batch;
  batch.source = IntTensor({count, source_length});
  batch.ids = IntTensor::full({count, length}, start);
  batch.targets = IntTensor::full({count, length}, -1);
  const auto byte = [](char c) { return static_cast<std::int32_t>(static_cast<unsigned char>(c)); };
  for (Index b = 0; b < count; ++b) {
    const auto& [source, target] = pairs[static_cast<std::size_t>(b)];
    std::ranges::transform(source, batch.source.data() + b * source_length, byte);
    std::ranges::transform(target, batch.ids.data() + b * length + 1, byte);
    std::ranges::transform(target, batch.targets.data() + b * length, byte);
    batch.targets(b, static_cast<Index>(target.size())) = start;
  }
  return batch;
}

void PairTally::add(const Tensor& logits, const IntTensor& targets) {
  for (Index b = 0; b < logits.dim(0); ++b) {
    Tally pair;
    pair.add(logits.slice(b, 1), targets.slice(b, 1));
    if (pair.correct_count() == pair.count()) ++matches;
  }
  tokens.add(logits, targets);
  pairs += logits.dim(0);
}

void PairTally::add(const PairTally& other) {
  tokens.add(other.tokens);
  pairs += other.pairs;
  matches += other.matches;
}

double PairTally::match_share() const {
  return pairs > 0 ? static_cast<double>(matches) / static_cast<double>(pairs)
                   : std::numeric_limits<double>::quiet_NaN();
}

void add(TallyByLength& all, const TallyByLength& more) {
  for (const auto& [length, tally] : more) all[length].add(tally);
}

PairTally total(const TallyByLength& tallies) {
  PairTally sum;
  for (const auto& [length, tally] : tallies) sum.add(tally);
  return sum;
}

TallyByLength tally_pairs(const Model& model, std::span<const TextPair> pairs, std::int32_t start) {
  constexpr std::size_t kBatch = 32;
  TallyByLength result;
  for (std::size_t first = 0; first < pairs.size();) {
    const std::size_t length = pairs[first].source.size();
    std::size_t count = 0;
    while (first + count < pairs.size() && count < kBatch &&
           pairs[first + count].source.size() == length) {
      ++count;
    }
    Batch batch = pair_batch(pairs.subspan(first, count), start);
    const IntTensor targets = batch.targets;
    batch.targets = IntTensor();
    const Tensor logits = run(model, batch, {}).logits.value();
    result[static_cast<Index>(length)].add(logits, targets);
    first += count;
    check_stop();
  }
  return result;
}

}  // namespace attnscope
