#include "core/view/memory/shown_memory.h"

#include <algorithm>

#include "core/figure/plain_text.h"
#include "core/view/parts/legend.h"
#include "core/view/parts/token_axis.h"
#include "core/view/view_values.h"

namespace attnscope {
namespace {

// Heads to average; all have the selected head's columns. Sets `description`, e.g. "this head".
std::vector<TapHead> averaged_heads(const ViewInput& input, const AttentionTap& tap, Index head,
                                    std::string& description) {
  const std::string over = view_values(input.session.view, "memory").choice("over");
  description = "this head";
  if (over == "head") return {{&tap, head}};
  std::vector<TapHead> heads;
  for (const AttentionTap& entry : input.trace.attention) {
    Address address = entry.address;
    address.group = tap.address.group;
    if (over == "model") address.layer = tap.address.layer;
    if (address != tap.address || entry.result.columns != tap.result.columns) continue;
    for (Index n = 0; n < static_cast<Index>(entry.heads.size()); ++n) heads.push_back({&entry, n});
  }
  description =
      (heads.size() == 1 ? "the only head" : "all " + std::to_string(heads.size()) + " heads") +
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

std::string source_text(const Trace& trace, const RowSource& source, const std::string& fallback) {
  if (source.first < 0) return fallback;
  std::string text;
  for (Index token = source.first; token <= source.last(); token += source.step) {
    text += trace.tokens[static_cast<std::size_t>(token)].label;
  }
  return text;
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
  ShownMemory memory{.trace = input.trace, .tap = tap, .head = head};
  memory.segment = tap.address.segment;
  memory.runs = slot_runs(tap);
  const TokenAxis axis = key_axis(input.trace, tap);
  for (Index c = 0; c < tap.keys(); ++c) {
    memory.sources.push_back(column_source(input.trace, tap, c));
    memory.words.push_back(
        source_text(input.trace, memory.sources.back(), axis.labels[static_cast<std::size_t>(c)]));
  }
  memory.weights =
      cached_numbers(input, tap, CacheKey("weights", head), [&] { return tap.attention(head); });
  const std::vector<TapHead> heads = averaged_heads(input, tap, head, memory.averaged_heads);
  const Tensor rows = cached_numbers(input, tap, CacheKey("slots", head, memory.averaged_heads),
                                     [&] { return slot_rows(heads); });
  memory.slots = {{rows.data(), rows.data() + rows.dim(1)},
                  {rows.data() + rows.dim(1), rows.data() + 2 * rows.dim(1)}};
  const double queries = static_cast<double>(tap.queries());
  for (const SlotRun& run : memory.runs) {
    double sum = 0;
    for (Index i = 0; i < tap.queries(); ++i) {
      for (Index c = run.first; c < run.first + run.count; ++c) {
        sum += static_cast<double>(memory.weights(i, c));
      }
    }
    memory.fraction[run.kind] += sum / queries;
  }
  return memory;
}

const char* slot_name(KeyKind kind) {
  return kind == KeyKind::Token ? "segment" : name_of(kind);
}

Colour slot_colour(KeyKind kind) {
  return head_colour(kind == KeyKind::Token ? 0 : kind == KeyKind::Memory ? 1 : 2);
}

std::string describe_slot_place(const ShownMemory& memory, Index column) {
  const RowSource& source = memory.sources[static_cast<std::size_t>(column)];
  const std::string kind = slot_name(memory.kind_of(column));
  if (source.first < 0) return kind;
  const Index distance = memory.first_token() - source.last();
  if (memory.kind_of(column) == KeyKind::Token) return "its own segment";
  return kind + ", " + std::to_string(distance) + (distance == 1 ? " token" : " tokens") +
         " before the segment";
}

std::string list_weights(const ShownMemory& memory) {
  std::string text;
  for (const SlotRun& run : memory.runs) {
    if (run.kind != KeyKind::Token) {
      text += slot_name(run.kind) + (" " + percent(memory.fraction.at(run.kind))) + ", ";
    }
  }
  return text + "own " + percent(memory.fraction.at(KeyKind::Token));
}

std::string describe_weights(const ShownMemory& memory) {
  std::string text;
  for (const SlotRun& run : memory.runs) {
    if (run.kind == KeyKind::Token) continue;
    text += percent(memory.fraction.at(run.kind)) +
            (text.empty() ? " of the weight goes to " : " to ") +
            (run.kind == KeyKind::Compressed ? "compressed slots" : slot_name(run.kind)) + ", ";
  }
  return text + percent(memory.fraction.at(KeyKind::Token)) + " to its own segment";
}

}  // namespace attnscope
