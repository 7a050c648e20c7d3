#include "core/view/memory/shown_memory.h"

#include <algorithm>

#include "core/figure/plain_text.h"
#include "core/view/parts/legend.h"
#include "core/view/parts/token_axis.h"
#include "core/view/view_values.h"

namespace attnscope {
namespace {

// Heads to average: those with the same columns as the selected head. `words` describes them.
std::vector<TapHead> averaged_heads(const ViewInput& input, const AttentionTap& tap, Index head,
                                    std::string& words) {
  const std::string over = view_values(input.session.view, "memory").choice("over");
  words = "this head";
  if (over == "head") return {{&tap, head}};
  std::vector<TapHead> heads;
  for (const AttentionTap& other : input.trace.attention) {
    Address at = other.address;
    at.group = tap.address.group;
    if (over == "model") at.layer = tap.address.layer;
    if (at != tap.address || other.result.columns != tap.result.columns) continue;
    for (Index a = 0; a < static_cast<Index>(other.heads.size()); ++a) heads.push_back({&other, a});
  }
  words = "all " + std::to_string(heads.size()) + " heads" +
          (over == "model" ? " that have these slots"
                           : " of layer " + std::to_string(tap.address.layer));
  return heads;
}

Tensor cached_numbers(const ViewInput& input, const AttentionTap& tap, const CacheKey& key,
                      const std::function<Tensor()>& make) {
  return input.cache == nullptr ? make() : input.cache->matrix(tap.result.pattern, key, make);
}

// Mean and deviation as a cacheable matrix.  [2, L_k]
Tensor slot_rows(const std::vector<TapHead>& heads) {
  const SlotWeights slots = slot_weights(heads);
  Tensor rows({2, static_cast<Index>(slots.mean.size())});
  const auto number = [](double value) { return static_cast<float>(value); };
  std::ranges::transform(slots.mean, rows.data(), number);
  std::ranges::transform(slots.deviation, rows.data() + rows.dim(1), number);
  return rows;
}

std::string source_words(const Trace& trace, const RowSource& source, const std::string& fallback) {
  if (source.first < 0) return fallback;
  std::string words;
  for (Index at = source.first; at <= source.last(); at += source.step) {
    words += trace.tokens[static_cast<std::size_t>(at)].label;
  }
  return words;
}

}  // namespace

KeyKind ShownMemory::kind_of(Index column) const {
  for (const SlotRun& run : runs) {
    if (column < run.first + run.count) return run.kind;
  }
  return KeyKind::Token;
}

std::size_t ShownMemory::first_segment_column() const {
  return static_cast<std::size_t>(runs.back().first);
}

ShownMemory shown_memory(const ViewInput& input, const AttentionTap& tap, Index head) {
  ShownMemory shown{.trace = input.trace, .tap = tap, .head = head};
  shown.segment = tap.address.segment;
  shown.runs = slot_runs(tap);
  const TokenAxis axis = key_axis(input.trace, tap);
  for (Index c = 0; c < tap.keys(); ++c) {
    shown.sources.push_back(column_source(input.trace, tap, c));
    shown.words.push_back(
        source_words(input.trace, shown.sources.back(), axis.labels[static_cast<std::size_t>(c)]));
  }
  shown.weights =
      cached_numbers(input, tap, CacheKey("weights", head), [&] { return tap.attention(head); });
  const std::vector<TapHead> heads = averaged_heads(input, tap, head, shown.averaged);
  const Tensor rows = cached_numbers(input, tap, CacheKey("slots", head, shown.averaged),
                                     [&] { return slot_rows(heads); });
  shown.slots = {{rows.data(), rows.data() + rows.dim(1)},
                 {rows.data() + rows.dim(1), rows.data() + 2 * rows.dim(1)}};
  const double queries = static_cast<double>(tap.queries());
  for (const SlotRun& run : shown.runs) {
    double sum = 0;
    for (Index i = 0; i < tap.queries(); ++i) {
      for (Index c = run.first; c < run.first + run.count; ++c) {
        sum += static_cast<double>(shown.weights(i, c));
      }
    }
    shown.share[run.kind] += sum / queries;
  }
  return shown;
}

const char* slot_name(KeyKind kind) {
  return kind == KeyKind::Token ? "segment" : name_of(kind);
}

Colour slot_colour(KeyKind kind) {
  return head_colour(kind == KeyKind::Token ? 0 : kind == KeyKind::Memory ? 1 : 2);
}

std::string place_of_slot(const ShownMemory& shown, Index column) {
  const RowSource& source = shown.sources[static_cast<std::size_t>(column)];
  const std::string kind = slot_name(shown.kind_of(column));
  if (source.first < 0) return kind;
  const Index back = shown.first_token() - source.last();
  if (shown.kind_of(column) == KeyKind::Token) return "its own segment";
  return kind + ", " + std::to_string(back) + (back == 1 ? " token" : " tokens") +
         " before the segment";
}

std::string share_words(const ShownMemory& shown) {
  std::string words;
  for (const SlotRun& run : shown.runs) {
    if (run.kind == KeyKind::Token) continue;
    words += percent(shown.share.at(run.kind)) +
             (words.empty() ? " of the weight goes to " : " to ") +
             (run.kind == KeyKind::Compressed ? "compressed slots" : slot_name(run.kind)) + ", ";
  }
  return words + percent(shown.share.at(KeyKind::Token)) + " to its own segment";
}

}  // namespace attnscope
