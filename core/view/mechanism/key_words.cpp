#include "core/view/mechanism/key_words.h"

#include <algorithm>

namespace attnscope {
namespace {

// Concatenated labels of tokens [first, last); empty if the trace lacks one of them.
std::string joined_labels(const Trace& trace, Index first, Index last) {
  const auto count = static_cast<Index>(trace.tokens.size());
  if (first < 0 || first >= last || last > count) return {};
  std::string labels;
  for (Index n = first; n < last; ++n) labels += trace.tokens[static_cast<std::size_t>(n)].label;
  return labels;
}

Index parameter_or(const AttentionTap& tap, const char* key, Index fallback) {
  return tap.variant.values.has(key) ? tap.variant.values.integer(key) : fallback;
}

}  // namespace

TokenAxis key_axis_with_tokens(const HeadInput& in) {
  TokenAxis axis = key_axis(in.input.trace, in.tap);
  const Trace& trace = in.input.trace;
  const Index start = trace.token_index(in.tap.query_rows, in.tap.queries(), 0);
  if (start < 0) return axis;
  Index column = 0;
  for (const auto& [kind, count] : in.tap.result.columns) {
    for (Index n = 0; n < count; ++n, ++column) {
      std::string label;
      if (kind == KeyKind::Memory) {  // memory tokens precede the first query
        label = joined_labels(trace, start - count + n, start - count + n + 1);
      } else if (kind == KeyKind::Compressed && in.tap.variant.values.has("rate")) {
        const Index last = start + key_position(in.tap, in.head, column) + 1;
        label = joined_labels(trace, last - parameter_or(in.tap, "rate", 1), last);
      } else if (kind == KeyKind::Projected && in.tap.variant.values.has("stride")) {
        const Index stride = parameter_or(in.tap, "stride", 1);
        const auto length = static_cast<Index>(trace.tokens.size());
        label = joined_labels(trace, n * stride, std::min(length, (n + 1) * stride));
      }
      if (!label.empty()) axis.labels[static_cast<std::size_t>(column)] = label;
    }
  }
  axis.widest.reset();
  return axis;
}

ColumnKinds column_kinds(const AttentionTap& tap) {
  ColumnKinds kinds;
  const auto& columns = tap.result.columns;
  const auto kind_count =
      std::ranges::count_if(columns, [](const auto& run) { return run.second > 0; });
  if (kind_count < 2 || tap.result.pattern->rules().size() != 1) return kinds;
  for (const auto& [kind, count] : columns) {
    if (count == 0) continue;
    const auto number = static_cast<int>(kinds.names.size());
    kinds.names.emplace_back(kind == KeyKind::Token ? "this segment" : name_of(kind));
    kinds.by_column.insert(kinds.by_column.end(), static_cast<std::size_t>(count), number);
  }
  return kinds;
}

}  // namespace attnscope
