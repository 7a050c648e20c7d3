#include "core/analysis/statistics.h"

#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

namespace attnscope {
namespace {

class Mean {
 public:
  void add(double value) {
    sum_ += value;
    ++count_;
  }
  double value() const {
    return count_ == 0 ? std::numeric_limits<double>::quiet_NaN() : sum_ / count_;
  }

 private:
  double sum_ = 0;
  int count_ = 0;
};

// The weights of one row at the places where an earlier token equals the query's, and right after.
void add_token_scores(const float* row, Index keys, Index query,
                      const std::vector<std::int32_t>& tokens, Mean& same, Mean& induction) {
  const std::int32_t token = tokens[static_cast<std::size_t>(query)];
  double on_same = 0, after_same = 0;
  bool any = false;
  for (Index j = 0; j < query && j < keys; ++j) {
    if (tokens[static_cast<std::size_t>(j)] != token) continue;
    any = true;
    on_same += static_cast<double>(row[j]);
    if (j + 1 < keys) after_same += static_cast<double>(row[j + 1]);
  }
  if (!any) return;
  same.add(on_same);
  induction.add(after_same);
}

}  // namespace

double row_entropy(const float* weights, Index count) {
  double bits = 0;
  for (Index j = 0; j < count; ++j) {
    const double a = static_cast<double>(weights[j]);
    if (a > 0) bits -= a * std::log2(a);
  }
  return bits;
}

HeadStatistics head_statistics(const Tensor& attention, const std::vector<std::int32_t>& tokens,
                               Index first_token_column) {
  const Index queries = attention.dim(0), columns = attention.dim(1);
  const Index keys = columns - first_token_column;
  const bool has_tokens = static_cast<Index>(tokens.size()) == queries;
  Mean entropy, distance, first, previous, same, induction;
  for (Index i = 0; i < queries; ++i) {
    const float* all = attention.data() + i * columns;
    if (!(std::accumulate(all, all + columns, 0.0) > 0)) continue;
    const float* row = all + first_token_column;
    entropy.add(row_entropy(all, columns));
    double reach = 0;
    for (Index j = 0; j < keys; ++j) {
      reach += static_cast<double>(row[j]) * static_cast<double>(std::abs(i - j));
    }
    distance.add(reach);
    if (i >= 1 && keys > 0) first.add(static_cast<double>(row[0]));
    if (i >= 1 && i - 1 < keys) previous.add(static_cast<double>(row[i - 1]));
    if (has_tokens) add_token_scores(row, keys, i, tokens, same, induction);
  }
  return {entropy.value(),  distance.value(), first.value(),
          previous.value(), same.value(),     induction.value()};
}

}  // namespace attnscope
