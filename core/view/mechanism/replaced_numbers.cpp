#include "core/view/mechanism/replaced_numbers.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/view/parts/pattern_cells.h"
#include "core/view/parts/token_axis.h"

namespace attnscope {
namespace {

constexpr Index kMaxComparedPairs = Index{1} << 22;

// Relative change of the head's output in one row.
double output_change(const Tensor& a, const Tensor& b, Index head, Index row) {
  const Index size = a.dim(2);
  double change = 0, norm = 0;
  for (Index c = 0; c < size; ++c) {
    const double x = a(head, row, c), y = b(head, row, c);
    change += (y - x) * (y - x);
    norm += x * x;
  }
  if (change == 0) return 0;
  return std::sqrt(change / std::max(norm, std::numeric_limits<double>::min()));
}

}  // namespace

ReplacedChange replaced_change(const Trace& trace, const AttentionTap& original,
                               const AttentionTap& replaced, Index head, Index position) {
  const Index queries = original.queries(), keys = original.keys();
  if (replaced.queries() != queries || replaced.keys() != keys) {
    throw InputError("The two runs have maps of different sizes.");
  }
  if (queries > kMaxComparedPairs / keys) {
    throw InputError("Too many tokens to compare two maps: this picture shows up to 2,048.");
  }
  const Tensor a = original.attention(head), b = replaced.attention(head);
  const Tensor original_output = original.output(), replaced_output = replaced.output();
  ReplacedChange change;
  change.weights = Tensor({queries, keys});
  for (Index i = 0; i < queries; ++i) {
    if (trace.token_index(original.query_rows, queries, i) == position) change.row = i;
    double moved = 0;
    for (Index j = 0; j < keys; ++j) {
      const bool is_allowed =
          rule_of_pair(original, head, i, j) >= 0 || rule_of_pair(replaced, head, i, j) >= 0;
      const double difference = std::abs(static_cast<double>(b(i, j)) - a(i, j));
      moved += difference / 2;
      change.weights(i, j) = is_allowed || difference > 0 ? static_cast<float>(difference)
                                                          : std::numeric_limits<float>::quiet_NaN();
    }
    change.rows.push_back(moved);
    change.outputs.push_back(output_change(original_output, replaced_output, head, i));
  }
  for (Index j = 0; j < keys; ++j) {
    if (key_token(trace, original, j) == position) change.column = j;
  }
  for (Index i = 0; i < queries; ++i) {
    change.attends.push_back(change.column >= 0 &&
                             (rule_of_pair(original, head, i, change.column) >= 0 ||
                              rule_of_pair(replaced, head, i, change.column) >= 0));
  }
  return change;
}

namespace {

std::string rows_text(Index count) {
  return std::to_string(count) + (count == 1 ? " row" : " rows");
}

// Number of changed rows: the token's row, rows that can attend to the token, and others.
// `all_attending`: number of all rows that can attend to the token, changed or not.
struct ChangedRows {
  bool has_token_row = false;
  Index attending = 0, others = 0, all_attending = 0;
  Index count() const { return (has_token_row ? 1 : 0) + attending + others; }
};
ChangedRows changed_rows(const ReplacedChange& change, const std::vector<double>& rows,
                         double threshold) {
  ChangedRows result;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool is_token_row = static_cast<Index>(i) == change.row;
    if (!is_token_row && change.attends[i]) ++result.all_attending;
    if (!(rows[i] > threshold)) continue;
    if (is_token_row) {
      result.has_token_row = true;
    } else {
      ++(change.attends[i] ? result.attending : result.others);
    }
  }
  return result;
}

std::string describe_weight_changes(const ReplacedChange& change, const ChangedRows& weights) {
  const std::string row = std::to_string(change.row);
  const auto row_count = static_cast<Index>(change.rows.size());
  if (weights.count() == 0) return "No weight changes: weights depend on positions only.";
  if (weights.has_token_row && weights.count() == 1) {
    if (weights.all_attending == 0) {
      return "Row " + row + " changes; no other query can attend to this token.";
    }
    return "Row " + row +
           " changes: a query's weights depend only on its own token; keys are not compared.";
  }
  std::string text = rows_text(weights.count()) + " of " + std::to_string(row_count) + " change";
  if (change.column < 0) return text + ": each key combines all tokens.";
  std::string reasons;
  if (weights.has_token_row) reasons += "row " + row + ", since its query changes";
  if (weights.attending > 0) {
    reasons += (reasons.empty() ? "" : ", and ") + std::to_string(weights.attending) +
               (weights.attending == weights.all_attending
                    ? " that attend to the token as a key"
                    : " of the " + std::to_string(weights.all_attending) +
                          " that attend to the token as a key");
  }
  if (weights.others > 0) {
    reasons += (reasons.empty() ? "" : ", and ") + std::to_string(weights.others) +
               " that cannot attend to the token";
  }
  return text + ": " + reasons + ".";
}

}  // namespace

std::vector<std::string> describe_change(const ReplacedChange& change, Index layer) {
  const ChangedRows weights = changed_rows(change, change.rows, kMinChange);
  const ChangedRows outputs = changed_rows(change, change.outputs, kMinOutputChange);
  std::vector<std::string> sentences{describe_weight_changes(change, weights)};
  std::string outputs_text = "Outputs change in " + rows_text(outputs.count()) + " of " +
                             std::to_string(change.rows.size());
  if (outputs.count() > weights.count()) {
    outputs_text += ": rows with unchanged weights also change, because the token's value does";
  }
  sentences.push_back(outputs_text + ".");
  if (layer > 0) {
    sentences.push_back(
        "This includes changes in previous layers; layer 0 shows the method in isolation.");
  }
  return sentences;
}

}  // namespace attnscope
