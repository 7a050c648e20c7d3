#include "core/view/mechanism/replaced_numbers.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "core/view/parts/pattern_cells.h"
#include "core/view/parts/token_axis.h"

namespace attnscope {
namespace {

constexpr Index kMostPairs = Index{1} << 22;

// Relative change of the head's output in one row.
double output_change(const Tensor& a, const Tensor& b, Index head, Index row) {
  const Index size = a.dim(2);
  double change = 0, was = 0;
  for (Index c = 0; c < size; ++c) {
    const double before = a(head, row, c), after = b(head, row, c);
    change += (after - before) * (after - before);
    was += before * before;
  }
  if (change == 0) return 0;
  return std::sqrt(change / std::max(was, std::numeric_limits<double>::min()));
}

}  // namespace

ReplacedChange change_of(const Trace& trace, const AttentionTap& without, const AttentionTap& with,
                         Index head, Index position) {
  const Index queries = without.queries(), keys = without.keys();
  if (with.queries() != queries || with.keys() != keys) {
    throw InputError("The two runs have maps of different sizes.");
  }
  if (queries > kMostPairs / keys) {
    throw InputError("Too many tokens to compare two maps: this picture shows up to 2,048.");
  }
  const Tensor a = without.attention(head), b = with.attention(head);
  ReplacedChange change;
  change.weights = Tensor({queries, keys});
  for (Index i = 0; i < queries; ++i) {
    if (trace.token_index(without.query_rows, queries, i) == position) change.row = i;
    double moved = 0;
    for (Index j = 0; j < keys; ++j) {
      const bool allowed =
          shown_rule(without, head, i, j) >= 0 || shown_rule(with, head, i, j) >= 0;
      const double apart = std::abs(static_cast<double>(b(i, j)) - a(i, j));
      moved += apart / 2;
      change.weights(i, j) = allowed || apart > 0 ? static_cast<float>(apart)
                                                  : std::numeric_limits<float>::quiet_NaN();
    }
    change.rows.push_back(moved);
    change.outputs.push_back(
        output_change(without.result.output.value(), with.result.output.value(), head, i));
  }
  for (Index j = 0; j < keys; ++j) {
    if (key_token(trace, without, j) == position) change.column = j;
  }
  for (Index i = 0; i < queries; ++i) {
    change.sees.push_back(change.column >= 0 && (shown_rule(without, head, i, change.column) >= 0 ||
                                                 shown_rule(with, head, i, change.column) >= 0));
  }
  return change;
}

namespace {

std::string rows_words(Index count) {
  return std::to_string(count) + (count == 1 ? " row" : " rows");
}

// Rows that change: the token's own, those attending to it, and others.
struct Changed {
  bool own = false;
  Index seeing = 0, others = 0, all_seeing = 0;
  Index count() const { return (own ? 1 : 0) + seeing + others; }
};
Changed changed(const ReplacedChange& change, const std::vector<double>& rows, double least) {
  Changed result;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool own = static_cast<Index>(i) == change.row;
    if (!own && change.sees[i]) ++result.all_seeing;
    if (!(rows[i] > least)) continue;
    if (own) {
      result.own = true;
    } else {
      ++(change.sees[i] ? result.seeing : result.others);
    }
  }
  return result;
}

std::string weights_words(const ReplacedChange& change, const Changed& weights) {
  const std::string row = std::to_string(change.row);
  const auto all = static_cast<Index>(change.rows.size());
  if (weights.count() == 0) {
    return "No weight changes: weights depend on positions only.";
  }
  if (weights.own && weights.count() == 1) {
    if (weights.all_seeing == 0) {
      return "Row " + row + " changes; no other query can attend to this token.";
    }
    return "Row " + row +
           " changes: a query's weights depend on its own token, and keys are not "
           "compared.";
  }
  std::string words = rows_words(weights.count()) + " of " + std::to_string(all) + " change";
  if (change.column < 0) return words + ": keys are combined from all tokens.";
  std::string because;
  if (weights.own) because += "row " + row + ", since its query changes";
  if (weights.seeing > 0) {
    because +=
        (because.empty() ? "" : ", and ") + std::to_string(weights.seeing) +
        (weights.seeing == weights.all_seeing
             ? " that attend to it as a key"
             : " of the " + std::to_string(weights.all_seeing) + " that attend to it as a key");
  }
  if (weights.others > 0) {
    because += (because.empty() ? "" : ", and ") + std::to_string(weights.others) +
               " that cannot attend to it";
  }
  return words + ": " + because + ".";
}

}  // namespace

std::vector<std::string> change_words(const ReplacedChange& change, Index layer) {
  const Changed weights = changed(change, change.rows, kMinChange);
  const Changed outputs = changed(change, change.outputs, kMinOutputChange);
  std::vector<std::string> words{weights_words(change, weights)};
  std::string of_outputs = "Outputs change in " + rows_words(outputs.count()) + " of " +
                           std::to_string(change.rows.size());
  if (outputs.count() > weights.count()) {
    of_outputs += ": also with unchanged weights, since the token's value changes";
  }
  words.push_back(of_outputs + ".");
  if (layer > 0) {
    words.push_back(
        "This includes changes in previous layers; layer 0 shows the method in isolation.");
  }
  return words;
}

}  // namespace attnscope
