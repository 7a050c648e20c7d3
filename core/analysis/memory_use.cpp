#include "core/analysis/memory_use.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "core/model/config.h"

namespace attnscope {
namespace {

// Value of the memory size `key`: the segment length if unset, 0 if there is no such parameter.
Index memory_size(const Choice& choice, const char* key, Index segment) {
  const std::vector<Parameter>& parameters = variant(choice.id).parameters;
  if (std::ranges::find(parameters, key, &Parameter::key) == parameters.end()) return 0;
  return choice.values.has(key) ? choice.values.integer(key) : segment;
}

}  // namespace

std::vector<SlotRun> slot_runs(const AttentionTap& tap) {
  if (tap.result.columns.empty()) return {{KeyKind::Token, 0, tap.keys()}};
  std::vector<SlotRun> runs;
  Index first = 0;
  for (const auto& [kind, count] : tap.result.columns) {
    if (count > 0) runs.push_back({kind, first, count});
    first += count;
  }
  return runs;
}

Index slot_count(const AttentionTap& tap, KeyKind kind) {
  Index count = 0;
  for (const SlotRun& run : slot_runs(tap)) count += run.kind == kind ? run.count : 0;
  return count;
}

RowSource column_source(const Trace& trace, const AttentionTap& tap, Index column) {
  const Index tokens = slot_count(tap, KeyKind::Token), memory = tap.keys() - tokens;
  if (column >= memory) return {trace.token_index(tap.key_rows, tokens, column - memory)};
  const auto sources = static_cast<Index>(tap.remembered.size());
  if (sources != memory) return {-1};  // the memory comes from another text
  return tap.remembered[static_cast<std::size_t>(column)];
}

bool reads_in_segments(const Trace& trace) {
  return trace.parts.segment && trace.config && trace.config->segment > 0;
}

bool remembers(const Trace& trace) {
  return reads_in_segments(trace) && std::ranges::any_of(trace.attention, [](const auto& tap) {
           return static_cast<bool>(variant(tap.variant.id).memory.remember);
         });
}

double kind_weight(const TapHead& head, KeyKind kind) {
  const Tensor weights = head.tap->attention(head.head);  // [L_q, L_k]
  double sum = 0;
  for (const SlotRun& run : slot_runs(*head.tap)) {
    if (run.kind != kind) continue;
    for (Index i = 0; i < weights.dim(0); ++i) {
      for (Index c = run.first; c < run.first + run.count; ++c) {
        sum += static_cast<double>(weights(i, c));
      }
    }
  }
  return sum / static_cast<double>(weights.dim(0));
}

SlotWeights slot_weights(const std::vector<TapHead>& heads) {
  const auto keys = static_cast<std::size_t>(heads.front().tap->keys());
  std::vector<double> sum(keys), squares(keys);
  double rows = 0;
  for (const TapHead& head : heads) {
    const Tensor weights = head.tap->attention(head.head);  // [L_q, L_k]
    rows += static_cast<double>(weights.dim(0));
    const float* weight = weights.data();
    for (Index i = 0; i < weights.dim(0); ++i) {
      for (std::size_t c = 0; c < keys; ++c, ++weight) {
        const auto value = static_cast<double>(*weight);
        sum[c] += value;
        squares[c] += value * value;
      }
    }
  }
  SlotWeights result{std::move(sum), std::move(squares)};
  for (std::size_t c = 0; c < keys; ++c) {
    double &mean = result.mean[c], &deviation = result.deviation[c];
    mean /= rows;
    deviation = std::sqrt(std::max(deviation / rows - mean * mean, 0.0));
  }
  return result;
}

namespace {

// Sparse table for range minimum queries. Linear searches would be slow, because a pattern has
// hundreds of rows with runs of hundreds of columns.
class RangeMin {
 public:
  explicit RangeMin(std::vector<Index> numbers) : levels_{std::move(numbers)} {
    for (std::size_t width = 1; 2 * width <= levels_[0].size(); width *= 2) {
      const std::vector<Index>& level_below = levels_.back();  // minimum of `width` neighbours
      std::vector<Index> level;
      for (std::size_t n = 0; n + 2 * width <= levels_[0].size(); ++n) {
        level.push_back(std::min(level_below[n], level_below[n + width]));
      }
      levels_.push_back(std::move(level));
    }
  }
  Index minimum(const Run& run) const {
    if (run.step != 1) {
      Index smallest = levels_[0][static_cast<std::size_t>(run.begin)];
      for (Index c = run.begin; c < run.end; c += run.step) {
        smallest = std::min(smallest, levels_[0][static_cast<std::size_t>(c)]);
      }
      return smallest;
    }
    const auto first = static_cast<std::size_t>(run.begin);
    const auto count = static_cast<std::size_t>(run.end - run.begin);
    const std::size_t level = static_cast<std::size_t>(std::bit_width(count)) - 1;
    const std::size_t width = std::size_t{1} << level;
    return std::min(levels_[level][first], levels_[level][first + count - width]);
  }

 private:
  std::vector<std::vector<Index>> levels_;  // level n: minima of 2^n consecutive entries
};

// Lowers `reach`, the oldest token that each token reaches in this layer, to the oldest tokens that
// the tap's queries reach. `below`: the oldest token that each token reaches in the layer below.
void extend_reach(const Trace& trace, const AttentionTap& tap, const std::vector<Index>& below,
                  std::vector<Index>& reach) {
  const auto oldest_of = [&](const RowSource& source) {
    Index oldest = static_cast<Index>(below.size());
    for (Index row = source.first; source.first >= 0 && row <= source.last(); row += source.step) {
      oldest = std::min(oldest, below[static_cast<std::size_t>(row)]);
    }
    return oldest;
  };
  std::vector<Index> columns;
  for (Index c = 0; c < tap.keys(); ++c) {
    columns.push_back(oldest_of(column_source(trace, tap, c)));
  }
  const RangeMin column_reach(std::move(columns));
  const Pattern& pattern = *tap.result.pattern;
  for (Index i = 0; i < tap.queries(); ++i) {
    const Index token = trace.token_index(tap.query_rows, tap.queries(), i);
    if (token < 0) continue;
    Index& oldest = reach[static_cast<std::size_t>(token)];
    for (Index a = 0; a < pattern.heads(); ++a) {
      for (const Run& run : pattern.row(a, i)) {
        if (run.begin < run.end) oldest = std::min(oldest, column_reach.minimum(run));
      }
    }
  }
}

}  // namespace

std::vector<Index> oldest_reachable(const Trace& trace, Index segment) {
  std::vector<Index> reached(trace.tokens.size()), oldest;
  std::iota(reached.begin(), reached.end(), Index{0});
  const TracePart part{.segment = segment};
  Index last = -1;  // last token of the segment
  for (Index layer = 0; layer < trace.layer_count(part); ++layer) {
    std::vector<Index> reach = reached;
    for (const AttentionTap& tap : trace.attention) {
      const Address& address = tap.address;
      if (address.layer != layer || address.segment > segment) continue;
      extend_reach(trace, tap, reached, reach);
      if (address.segment == segment) {
        last = trace.token_index(tap.query_rows, tap.queries(), tap.queries() - 1);
      }
    }
    reached = std::move(reach);
    oldest.push_back(last < 0 ? 0 : reached[static_cast<std::size_t>(last)]);
  }
  return oldest;
}

std::optional<TemporalRange> temporal_range(const Choice& choice, Index segment, Index layers) {
  TemporalRange range{.memory = memory_size(choice, "memory", segment),
                      .compressed = memory_size(choice, "compressed", segment),
                      .layers = layers};
  if (range.memory == 0) return std::nullopt;
  if (range.compressed > 0) range.rate = choice.values.integer("rate");
  return range;
}

double pairs_in_segments(const Choice& choice, Index segment, Index length) {
  const Index memory = memory_size(choice, "memory", segment);
  const Index compressed = memory_size(choice, "compressed", segment);
  const Index rate = compressed > 0 ? choice.values.integer("rate") : 1;
  double pairs = 0;
  Index rows = 0, compressed_rows = 0;  // uncompressed and compressed rows in memory
  for (Index first = 0; first < length; first += segment) {
    const Index count = std::min(segment, length - first);
    pairs += causal_pair_count(count) + static_cast<double>(count * (rows + compressed_rows));
    rows += count;
    const Index evicted = std::max<Index>(rows - memory, 0);
    const Index windows = compressed > 0 ? evicted / rate : 0;
    compressed_rows = std::min(compressed_rows + windows, compressed);
    rows -= compressed > 0 ? windows * rate : evicted;
  }
  return pairs;
}

}  // namespace attnscope
