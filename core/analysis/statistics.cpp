#include "core/analysis/statistics.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>

namespace attnscope {
double HeadStatisticsSum::Mean::value() const {
  return count == 0 ? std::numeric_limits<double>::quiet_NaN() : sum / static_cast<double>(count);
}

// Adds the row's weights on and right after earlier occurrences of the query's token.
void HeadStatisticsSum::add_token_scores(const float* row, Index keys, Index query,
                                         const std::vector<std::int32_t>& tokens) {
  const std::int32_t token = tokens[static_cast<std::size_t>(query)];
  double on_same = 0, after_same = 0;
  bool has_earlier = false;
  for (Index j = 0; j < query && j < keys; ++j) {
    if (tokens[static_cast<std::size_t>(j)] != token) continue;
    has_earlier = true;
    on_same += static_cast<double>(row[j]);
    if (j + 1 < keys) after_same += static_cast<double>(row[j + 1]);
  }
  if (!has_earlier) return;
  same_.add(on_same);
  induction_.add(after_same);
}

double row_entropy(const float* weights, Index count) {
  constexpr Index kChunk = 256;
  using Chunk = Eigen::Array<double, Eigen::Dynamic, 1, 0, kChunk, 1>;
  double nats = 0;
  for (Index first = 0; first < count; first += kChunk) {
    const Index size = std::min(kChunk, count - first);
    const Chunk a = Eigen::Map<const Eigen::ArrayXf>(weights + first, size).cast<double>();
    nats -= (a > 0).select(a * (a > 0).select(a, 1).log(), 0).sum();
  }
  return nats / std::numbers::ln2;
}

void HeadStatisticsSum::add(const Tensor& attention, const std::vector<std::int32_t>& tokens,
                            Index first_token_column) {
  const Index queries = attention.dim(0), columns = attention.dim(1);
  const Index keys = columns - first_token_column;
  const bool has_tokens = static_cast<Index>(tokens.size()) == queries;
  const Eigen::ArrayXd positions = Eigen::ArrayXd::LinSpaced(
      std::max<Index>(keys, 1), 0, static_cast<double>(std::max<Index>(keys, 1) - 1));
  const auto sum_of = [](const float* first, Index count) {
    return count > 0 ? Eigen::Map<const Eigen::ArrayXf>(first, count).cast<double>().sum() : 0.0;
  };
  for (Index i = 0; i < queries; ++i) {
    const float* full_row = attention.data() + i * columns;
    if (!(sum_of(full_row, columns) > 0)) continue;
    const float* row = full_row + first_token_column;
    entropy_.add(row_entropy(full_row, columns));
    distance_.add(keys > 0 ? (Eigen::Map<const Eigen::ArrayXf>(row, keys).cast<double>() *
                              (positions - static_cast<double>(i)).abs())
                                 .sum()
                           : 0.0);
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

namespace {

// Expectation and variance of a statistic, summed over independent random rows.
struct RandomMean {
  double sum = 0, variance = 0;
  Index count = 0;
  void add(double mean, double row_variance) {
    sum += mean;
    variance += row_variance;
    ++count;
  }
  // Adds a row that attends to one of `keys` equally likely keys, of which `hits` count.
  void add_share(Index hits, Index keys) {
    const double p = static_cast<double>(hits) / static_cast<double>(keys);
    add(p, p * (1 - p));
  }
  double mean() const {
    return count > 0 ? sum / static_cast<double>(count) : std::numeric_limits<double>::quiet_NaN();
  }
  double rows() const { return static_cast<double>(count); }
  double spread() const {
    return count > 0 ? std::sqrt(variance) / static_cast<double>(count)
                     : std::numeric_limits<double>::quiet_NaN();
  }
};

}  // namespace

HeadBaseline head_baseline(const Pattern& pattern, Index head,
                           const std::vector<std::int32_t>& tokens, Index first_token_column) {
  RandomMean entropy, distance, first, previous, same, induction;
  const Index pattern_head = pattern.heads() > 1 ? head : 0,
              keys = pattern.keys() - first_token_column;
  const bool has_tokens = static_cast<Index>(tokens.size()) == pattern.queries();
  for (Index i = 0; i < pattern.queries(); ++i) {
    const Index size = pattern.row_size(pattern_head, i);
    if (size == 0) continue;
    const auto allows = [&](Index key) {
      return key < keys && pattern.allowed(pattern_head, i, first_token_column + key);
    };
    entropy.add(std::log2(static_cast<double>(size)), 0);
    double sum = 0, squares = 0;  // sums over distances; memory columns have no distance
    for (const Run& run : pattern.row(pattern_head, i)) {
      for (Index c = run.begin; c < run.end; c += run.step) {
        if (c < first_token_column) continue;
        const auto d = static_cast<double>(std::abs(c - first_token_column - i));
        sum += d;
        squares += d * d;
      }
    }
    const double mean = sum / static_cast<double>(size);
    distance.add(mean, squares / static_cast<double>(size) - mean * mean);
    if (i >= 1 && keys > 0) first.add_share(allows(0) ? 1 : 0, size);
    if (i >= 1 && i - 1 < keys) previous.add_share(allows(i - 1) ? 1 : 0, size);
    if (!has_tokens) continue;
    Index on_same = 0, after_same = 0, earlier = 0;
    for (Index j = 0; j < i && j < keys; ++j) {
      if (tokens[static_cast<std::size_t>(j)] != tokens[static_cast<std::size_t>(i)]) continue;
      ++earlier;
      on_same += allows(j) ? 1 : 0;
      after_same += allows(j + 1) ? 1 : 0;
    }
    if (earlier == 0) continue;
    same.add_share(on_same, size);
    induction.add_share(after_same, size);
  }
  return {{entropy.mean(), distance.mean(), first.mean(), previous.mean(), same.mean(),
           induction.mean()},
          {entropy.spread(), distance.spread(), first.spread(), previous.spread(), same.spread(),
           induction.spread()},
          {entropy.rows(), distance.rows(), first.rows(), previous.rows(), same.rows(),
           induction.rows()}};
}

}  // namespace attnscope
