// Measures of attention maps.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/analysis/columns.h"
#include "core/base/error.h"
#include "core/experiment/head_table.h"
#include "core/lesson/measure.h"

namespace attnscope {
namespace {

constexpr const char* kDifferentTokens =
    "the claim compares two orders of the same tokens: expected each token once in both runs";

double weight(const Tensor& weights, const Claim& claim) {
  check_index(claim.query, weights.dim(0), "query");
  check_index(claim.key, weights.dim(1), "key");
  return static_cast<double>(weights(claim.query, claim.key));
}

double other_weight(const Traces& traces, const Claim& claim) {
  const AttentionTap& tap = tap_of(*traces.trace, claim);
  const Tensor weights = weights_of(*traces.trace, claim);
  const double own_weight = weight(weights, claim);
  return column_sums(tap, weights)[static_cast<std::size_t>(claim.key)].mean_without(own_weight);
}

double row_sum_error(const Traces& traces, const Claim& claim) {
  const Tensor weights = weights_of(*traces.trace, claim);
  double worst = 0;
  for (Index i = 0; i < weights.dim(0); ++i) {
    double sum = 0;
    for (Index c = 0; c < weights.dim(1); ++c) sum += static_cast<double>(weights(i, c));
    if (std::isnan(sum)) return sum;  // NaN: no claim holds
    worst = std::max(worst, std::abs(sum - 1));
  }
  return worst;
}

double later_weight(const Traces& traces, const Claim& claim) {
  const Tensor weights = weights_of(*traces.trace, claim);
  return largest(weights.shape(), [&](Index i, Index c) {
    return c > i ? static_cast<double>(weights(i, c)) : 0.0;
  });
}

double farthest(const Traces& traces, const Claim& claim) {
  const Tensor weights = weights_of(*traces.trace, claim);
  return largest(weights.shape(), [&](Index i, Index c) {
    return weights(i, c) > 0 ? static_cast<double>(std::abs(i - c)) : 0.0;
  });
}

// Largest difference between the weights of two maps, or a smaller one that exceeds `limit`.
double largest_difference(const Tensor& a, const Tensor& b,
                          double limit = std::numeric_limits<double>::infinity()) {
  if (a.shape() != b.shape()) {
    throw InputError("the claim compares maps of different sizes");
  }
  double largest = 0;
  for (auto x = a.begin(), y = b.begin(); x != a.end() && largest <= limit; ++x, ++y) {
    const double difference = std::abs(static_cast<double>(*x - *y));
    if (std::isnan(difference)) return difference;
    largest = std::max(largest, difference);
  }
  return largest;
}

double difference(const Traces& traces, const Claim& claim) {
  return largest_difference(weights_of(*traces.trace, claim),
                            weights_of(*traces.reference(), claim));
}

double earlier_difference(const Traces& traces, const Claim& claim) {
  const Tensor a = weights_of(*traces.trace, claim), b = weights_of(*traces.reference(), claim);
  check_index(claim.query, a.dim(0), "query");
  if (a.shape() != b.shape()) throw InputError("the claim compares maps of different sizes");
  return largest({claim.query, a.dim(1)}, [&](Index i, Index c) {
    return std::abs(static_cast<double>(a(i, c) - b(i, c)));
  });
}

// Position in `target` of each token of `trace`. Both must have the same distinct tokens.
std::vector<Index> positions_in(const Trace& target, const Trace& trace) {
  std::map<std::int32_t, Index> position_of;
  for (const TraceToken& token : target.tokens) {
    position_of.emplace(token.id, static_cast<Index>(position_of.size()));
  }
  if (position_of.size() != target.tokens.size() || position_of.size() != trace.tokens.size()) {
    throw InputError(kDifferentTokens);
  }
  std::vector<Index> positions;
  for (const TraceToken& token : trace.tokens) {
    const auto found = position_of.find(token.id);
    if (found == position_of.end()) throw InputError(kDifferentTokens);
    positions.push_back(found->second);
    position_of.erase(found);  // a repeated token is not found again
  }
  return positions;
}

// Largest difference between the weights of equal pairs of tokens, which the two runs order
// differently.
double difference_by_token(const Traces& traces, const Claim& claim) {
  const Tensor a = weights_of(*traces.trace, claim), b = weights_of(*traces.reference(), claim);
  const std::vector<Index> positions = positions_in(*traces.reference(), *traces.trace);
  // Some keys are not tokens, e.g. memory slots.
  const auto length = static_cast<Index>(positions.size());
  const Shape by_token = {length, length};
  if (a.shape() != by_token || b.shape() != by_token) throw InputError(kDifferentTokens);
  return largest(by_token, [&](Index i, Index c) {
    const Index row = positions[static_cast<std::size_t>(i)];
    const Index column = positions[static_cast<std::size_t>(c)];
    return std::abs(static_cast<double>(a(i, c) - b(row, column)));
  });
}

HeadStatistics statistics(const Trace& trace, const Claim& claim) {
  Index head = 0;
  const AttentionTap& tap = tap_of(trace, claim, &head);
  return head_statistics(trace, tap, head);
}

Measure head_measure(const char* id, const char* help, double HeadStatistics::*member,
                     MeasureUnit unit = MeasureUnit::Number) {
  return {id,
          help,
          false,
          false,
          false,
          [member](const Traces& traces, const Claim& claim) {
            return statistics(*traces.trace, claim).*member;
          },
          unit};
}

Measure head_change_measure(const char* id, const char* help, double HeadStatistics::*member) {
  return {id, help, false, false, true, [member](const Traces& traces, const Claim& claim) {
            return statistics(*traces.trace, claim).*member -
                   statistics(*traces.reference(), claim).*member;
          }};
}

// A statistic of every head of the claim's layer.
std::vector<double> layer_statistics(const Trace& trace, const Claim& claim,
                                     double HeadStatistics::*member) {
  std::vector<double> values;
  Claim head_claim = claim;
  for (head_claim.head = 0; head_claim.head < trace.head_count(part_of(trace, claim), claim.layer);
       ++head_claim.head) {
    values.push_back(statistics(trace, head_claim).*member);
  }
  return values;
}

double median_entropy(const Traces& traces, const Claim& claim) {
  tap_of(*traces.trace, claim);
  std::vector<double> values = layer_statistics(*traces.trace, claim, &HeadStatistics::entropy);
  std::ranges::sort(values);
  return values[(values.size() - 1) / 2];
}

double largest_induction(const Traces& traces, const Claim& claim) {
  tap_of(*traces.trace, claim);
  return std::ranges::max(layer_statistics(*traces.trace, claim, &HeadStatistics::induction));
}

double maps_apart(const Traces& traces, const Claim& claim) {
  std::vector<Tensor> maps;
  Claim head_claim = claim;
  for (const HeadRef& ref : traces.trace->heads(part_of(*traces.trace, claim))) {
    head_claim.layer = ref.layer;
    head_claim.head = ref.head;
    maps.push_back(weights_of(*traces.trace, head_claim));
  }
  double smallest = std::numeric_limits<double>::infinity();
  for (std::size_t a = 0; a < maps.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      const double difference = largest_difference(maps[a], maps[b], smallest);
      if (std::isnan(difference)) return difference;
      smallest = std::min(smallest, difference);
    }
  }
  return smallest;
}

}  // namespace

std::vector<Measure> map_measures() {
  using Statistics = HeadStatistics;
  return {
      {"row_sum_error", "largest deviation of a row sum from 1", false, false, false,
       row_sum_error},
      {"weight", "weight of the query on the key", true, true, false,
       [](const Traces& t, const Claim& c) { return weight(weights_of(*t.trace, c), c); },
       MeasureUnit::Share},
      {"other_weight", "mean weight of the other queries that may see the key", true, true, false,
       other_weight, MeasureUnit::Share},
      {"later_weight", "largest weight on a later token", false, false, false, later_weight,
       MeasureUnit::Share},
      {"farthest", "largest distance between a query and a key of positive weight", false, false,
       false, farthest},
      {"difference", "largest difference from the map of run B", false, false, true, difference},
      {"earlier_difference", "largest difference from the map of run B in rows before the query",
       true, false, true, earlier_difference},
      {"difference_by_token",
       "largest difference between equal pairs of tokens if run B has the tokens in another order",
       false, false, true, difference_by_token},
      head_measure("entropy", "mean entropy of the rows, in bits", &Statistics::entropy),
      head_measure("distance", "mean attention distance, in tokens", &Statistics::distance),
      head_measure("previous_token", "mean weight on the previous token",
                   &Statistics::previous_token, MeasureUnit::Share),
      head_measure("induction", "mean weight on tokens that followed the same token earlier",
                   &Statistics::induction, MeasureUnit::Share),
      head_change_measure("distance_change", "attention distance minus that of run B",
                          &Statistics::distance),
      {"median_entropy", "median entropy of the layer's heads", false, false, false,
       median_entropy},
      {"most_induction", "largest induction score of the layer's heads", false, false, false,
       largest_induction, MeasureUnit::Share},
      {"maps_apart", "largest difference between the two most similar heads", false, false, false,
       maps_apart},
  };
}

}  // namespace attnscope
