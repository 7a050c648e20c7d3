#include "core/view/parts/focus.h"

#include <algorithm>

#include "core/analysis/memory_use.h"
#include "core/analysis/row.h"
#include "core/model/config.h"
#include "core/position/encoding.h"
#include "core/view/parts/token_axis.h"

namespace attnscope {

Pair focus_of(const ViewInput& input, const AttentionTap& tap, Index head,
              const std::optional<Pair>& hovered) {
  const auto is_inside = [](Index index, Index count) { return index >= 0 && index < count; };
  const ViewSettings& settings = input.session.view;
  Pair pair = hovered.value_or(Pair{-1, -1});
  if (!is_inside(pair.query, tap.queries()) && !is_inside(pair.key, tap.keys())) {
    pair = {settings.pinned_query, settings.pinned_key};
  }
  if (!is_inside(pair.query, tap.queries())) pair.query = tap.queries() - 1;
  if (!is_inside(pair.key, tap.keys())) {
    const Tensor weights = attention_row(tap, head, pair.query);
    const Index strongest = row_statistics(weights.data(), tap.keys(), 1).largest;
    pair.key = strongest >= 0 ? strongest : tap.keys() - 1;
  }
  return pair;
}

namespace {

// Index of the first masked token; -1 if there is none.
Index first_masked(const Trace& trace) {
  const auto masked = std::ranges::find_if(trace.tokens, [&](const TraceToken& token) {
    return trace.config && token.id >= 0 && token.id == mask_id(*trace.config);
  });
  return masked != trace.tokens.end() ? masked - trace.tokens.begin() : -1;
}

}  // namespace

Index selected_position(const ViewSettings& settings, const Trace& trace) {
  const auto length = static_cast<Index>(trace.tokens.size());
  if (settings.pinned_query >= 0 && settings.pinned_query < length) return settings.pinned_query;
  const Index masked = first_masked(trace);
  return masked >= 0 ? masked : length - 1;
}

Index selected_position(const ViewSettings& settings, const Trace& trace, const AttentionTap& tap) {
  const bool is_pinned = settings.pinned_query >= 0 && settings.pinned_query < tap.queries();
  if (!is_pinned && first_masked(trace) >= 0) return first_masked(trace);
  const Index row = is_pinned ? settings.pinned_query : tap.queries() - 1;
  const Index token = trace.token_index(tap.query_rows, tap.queries(), row);
  return token >= 0 ? token : static_cast<Index>(trace.tokens.size()) - 1;
}

Tensor attention_row(const AttentionTap& tap, Index head, Index query) {
  return tap.rows(head, query, 1).reshaped({tap.keys()});
}

std::string query_label(const Trace& trace, const AttentionTap& tap, Index query) {
  return query_axis(trace, tap).labels[static_cast<std::size_t>(query)];
}

std::string key_label(const Trace& trace, const AttentionTap& tap, Index key) {
  std::string label = key_axis(trace, tap).labels[static_cast<std::size_t>(key)];
  const bool is_token = key_token(trace, tap, key) >= 0;
  const RowSource source = is_token ? RowSource{-1} : column_source(trace, tap, key);
  if (source.first < 0) return label;
  // Adds the tokens in a memory slot.
  label += " ";
  for (Index token = source.first; token <= source.last(); token += source.step) {
    label += trace.tokens[static_cast<std::size_t>(token)].label;
  }
  return label;
}

Index query_position(const AttentionTap& tap, Index query) {
  const PartSettings* part = tap.settings();
  if (part == nullptr || part->pos_q.empty()) return query;
  return sequence_position(tap.encoding, *part, part->pos_q[static_cast<std::size_t>(query)]);
}

Index key_position(const AttentionTap& tap, Index head, Index key) {
  const PartSettings* part = tap.settings();
  if (part == nullptr || part->pos_k.empty()) return key;
  const bool differs_by_head = static_cast<Index>(part->pos_k.size()) > tap.keys();
  return sequence_position(
      tap.encoding, *part,
      part->pos_k[static_cast<std::size_t>((differs_by_head ? head * tap.keys() : 0) + key)]);
}

}  // namespace attnscope
