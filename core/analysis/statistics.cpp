#include "core/analysis/statistics.h"

#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>

namespace attnscope {
double HeadStatisticsSum::Mean::value() const {
  return count == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(count);
}

// The weights of one row at the places where an earlier token equals the query's, and right after.
void HeadStatisticsSum::add_token_scores(const float* row, Index keys, Index query,
                                         const std::vector<std::int32_t>& tokens) {
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
  same_.add(on_same);
  induction_.add(after_same);
}

double row_entropy(const float* weights, Index count) {
  double bits = 0;
  for (Index j = 0; j < count; ++j) {
    const double a = static_cast<double>(weights[j]);
    if (a > 0) bits -= a * std::log2(a);
  }
  return bits;
}

void HeadStatisticsSum::add(const Tensor& attention, const std::vector<std::int32_t>& tokens,
                            Index first_token_column) {
  const Index queries = attention.dim(0), columns = attention.dim(1);
  const Index keys = columns - first_token_column;
  const bool has_tokens = static_cast<Index>(tokens.size()) == queries;
  for (Index i = 0; i < queries; ++i) {
    const float* all = attention.data() + i * columns;
    if (!(std::accumulate(all, all + columns, 0.0) > 0)) continue;
    const float* row = all + first_token_column;
    entropy_.add(row_entropy(all, columns));
    double reach = 0;
    for (Index j = 0; j < keys; ++j) {
      reach += static_cast<double>(row[j]) * static_cast<double>(std::abs(i - j));
    }
    distance_.add(reach);
    if (i >= 1 && keys > 0) first_.add(static_cast<double>(row[0]));
    if (i >= 1 && i - 1 < keys) previous_.add(static_cast<double>(row[i - 1]));
    if (has_tokens) add_token_scores(row, keys, i, tokens);
  }
}

HeadStatistics HeadStatisticsSum::means() const {
  return {entropy_.value(),  distance_.value(), first_.value(),
          previous_.value(), same_.value(),     induction_.value()};
}

HeadStatistics head_statistics(const Tensor& attention, const std::vector<std::int32_t>& tokens,
                               Index first_token_column) {
  HeadStatisticsSum sum;
  sum.add(attention, tokens, first_token_column);
  return sum.means();
}

}  // namespace attnscope
