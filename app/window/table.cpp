#include "app/window/table.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "core/base/error.h"

namespace attnscope::window {

namespace {

constexpr Index kMostWeights = Index{1} << 23;  // some 80 MB of text

std::string token_name(const Trace& trace, Index position) {
  const auto at = static_cast<std::size_t>(position);
  return at < trace.tokens.size() ? trace.tokens[at].label : std::to_string(position);
}

}  // namespace

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + "\"";
}

std::string picture_csv(const Trace& trace, const Experiment& experiment) {
  Index head = 0;
  const AttentionTap* tap = trace.find(experiment.view.layer, experiment.view.head, &head);
  if (tap == nullptr) return "";
  if (tap->queries() > kMostWeights / std::max<Index>(1, tap->keys())) {
    throw InputError("the map has " + std::to_string(tap->queries()) + " x " +
                     std::to_string(tap->keys()) + " weights, too many to be copied as a table");
  }
  const Tensor weights = tap->attention(head);  // [L_q, L_k]
  std::string csv = "query";
  // Columns that are no tokens (memory, projected slots) carry their number.
  const bool tokens = tap->result.columns.empty();
  for (Index j = 0; j < weights.dim(1); ++j) {
    csv += "," + csv_field(tokens ? token_name(trace, j) : std::to_string(j));
  }
  csv += "\n";
  std::array<char, 32> number;
  for (Index i = 0; i < weights.dim(0); ++i) {
    csv += csv_field(token_name(trace, i));
    for (Index j = 0; j < weights.dim(1); ++j) {
      std::snprintf(number.data(), number.size(), ",%.8g", static_cast<double>(weights(i, j)));
      csv += number.data();
    }
    csv += "\n";
  }
  return csv;
}

}  // namespace attnscope::window
