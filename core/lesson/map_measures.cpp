// Measures of attention maps.
#include <algorithm>
#include <cmath>
#include <map>

#include "core/base/error.h"
#include "core/experiment/head_table.h"
#include "core/lesson/measure.h"

namespace attnscope {
namespace {

constexpr const char* kOtherTokens =
    "a claim compares orders of tokens that are not the same, each once";

double weight(const Tensor& weights, const Claim& claim) {
  need(claim.query, weights.dim(0), "query");
  need(claim.key, weights.dim(1), "key");
  return static_cast<double>(weights(claim.query, claim.key));
}

double row_sum_error(const Traces& traces, const Claim& claim) {
  const Tensor weights = weights_of(*traces.trace, claim);
  double worst = 0;
  for (Index i = 0; i < weights.dim(0); ++i) {
    double sum = 0;
    for (Index c = 0; c < weights.dim(1); ++c) sum += static_cast<double>(weights(i, c));
    if (std::isnan(sum)) return sum;  // which fails any claim
    worst = std::max(worst, std::abs(sum - 1));
  }
  return worst;
}

double strongest_key(const Traces& traces, const Claim& claim) {
  const Tensor weights = weights_of(*traces.trace, claim);
  need(claim.query, weights.dim(0), "query");
  const float* row = weights.data() + claim.query * weights.dim(1);
  return static_cast<double>(std::max_element(row, row + weights.dim(1)) - row);
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

// The largest difference between the weights of two maps.
double largest_difference(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape()) {
    throw InputError("a claim compares maps of different sizes");
  }
  return largest(a.shape(), [&](Index i, Index c) {
    return std::abs(static_cast<double>(a(i, c) - b(i, c)));
  });
}

double difference(const Traces& traces, const Claim& claim) {
  return largest_difference(weights_of(*traces.trace, claim),
                            weights_of(*traces.reference(), claim));
}

double earlier_difference(const Traces& traces, const Claim& claim) {
  const Tensor a = weights_of(*traces.trace, claim), b = weights_of(*traces.reference(), claim);
  need(claim.query, a.dim(0), "query");
  if (a.shape() != b.shape()) throw InputError("a claim compares maps of different sizes");
  return largest({claim.query, a.dim(1)}, [&](Index i, Index c) {
    return std::abs(static_cast<double>(a(i, c) - b(i, c)));
  });
}

// Where each token of the run is in the other one, which has the same tokens, each once.
std::vector<Index> places_in(const Trace& other, const Trace& trace) {
  std::map<std::int32_t, Index> place;
  for (const TraceToken& token : other.tokens) {
    place.emplace(token.id, static_cast<Index>(place.size()));
  }
  if (place.size() != other.tokens.size() || place.size() != trace.tokens.size()) {
    throw InputError(kOtherTokens);
  }
  std::vector<Index> places;
  for (const TraceToken& token : trace.tokens) {
    const auto found = place.find(token.id);
    if (found == place.end()) throw InputError(kOtherTokens);
    places.push_back(found->second);
    place.erase(found);  // a token that comes twice is not found again
  }
  return places;
}

// The same where the other run has the same tokens in another order, each of them once; `counts`
// tells which pairs do, by their places in the one run and in the other.
template <class Counts>
double largest_by_token(const Traces& traces, const Claim& claim, const Counts& counts) {
  const Tensor a = weights_of(*traces.trace, claim), b = weights_of(*traces.reference(), claim);
  const std::vector<Index> places = places_in(*traces.reference(), *traces.trace);
  // Keys need not be tokens: memories are none.
  const auto length = static_cast<Index>(places.size());
  const Shape by_token = {length, length};
  if (a.shape() != by_token || b.shape() != by_token) throw InputError(kOtherTokens);
  return largest(by_token, [&](Index i, Index c) {
    const Index row = places[static_cast<std::size_t>(i)];
    const Index column = places[static_cast<std::size_t>(c)];
    if (!counts(i, c, row, column)) return 0.0;
    return std::abs(static_cast<double>(a(i, c) - b(row, column)));
  });
}

double difference_by_token(const Traces& traces, const Claim& claim) {
  return largest_by_token(traces, claim, [](Index, Index, Index, Index) { return true; });
}

// Where neither order forbids the pair.
double difference_where_allowed(const Traces& traces, const Claim& claim) {
  Index head = 0, other_head = 0;
  const Pattern& a = *tap_of(*traces.trace, claim, &head).result.pattern;
  const Pattern& b = *tap_of(*traces.reference(), claim, &other_head).result.pattern;
  head = std::min(head, a.heads() - 1);
  other_head = std::min(other_head, b.heads() - 1);
  return largest_by_token(traces, claim, [&](Index i, Index c, Index row, Index column) {
    return a.allowed(head, i, c) && b.allowed(other_head, row, column);
  });
}

HeadStatistics statistics(const Trace& trace, const Claim& claim) {
  Index head = 0;
  const AttentionTap& tap = tap_of(trace, claim, &head);
  return head_statistics(trace, tap, head);
}

Measure of_head(const char* id, const char* help, double HeadStatistics::*member) {
  return {id, help, false, false, false, [member](const Traces& traces, const Claim& claim) {
            return statistics(*traces.trace, claim).*member;
          }};
}

Measure change_of_head(const char* id, const char* help, double HeadStatistics::*member) {
  return {id, help, false, false, true, [member](const Traces& traces, const Claim& claim) {
            return statistics(*traces.trace, claim).*member -
                   statistics(*traces.reference(), claim).*member;
          }};
}

// Of every head of the claim's layer.
std::vector<double> of_layer(const Trace& trace, const Claim& claim,
                             double HeadStatistics::*member) {
  std::vector<double> values;
  Claim one = claim;
  for (one.head = 0; one.head < trace.head_count(part_of(trace, claim), claim.layer); ++one.head) {
    values.push_back(statistics(trace, one).*member);
  }
  return values;
}

double median_entropy(const Traces& traces, const Claim& claim) {
  tap_of(*traces.trace, claim);
  std::vector<double> values = of_layer(*traces.trace, claim, &HeadStatistics::entropy);
  std::ranges::sort(values);
  return values[(values.size() - 1) / 2];
}

double most_induction(const Traces& traces, const Claim& claim) {
  tap_of(*traces.trace, claim);
  return std::ranges::max(of_layer(*traces.trace, claim, &HeadStatistics::induction));
}

double maps_apart(const Traces& traces, const Claim& claim) {
  std::vector<Tensor> maps;
  Claim one = claim;
  for (const HeadRef& at : traces.trace->heads(part_of(*traces.trace, claim))) {
    one.layer = at.layer;
    one.head = at.head;
    maps.push_back(weights_of(*traces.trace, one));
  }
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t a = 0; a < maps.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      least = std::min(least, largest_difference(maps[a], maps[b]));
    }
  }
  return least;
}

}  // namespace

std::vector<Measure> map_measures() {
  using Statistics = HeadStatistics;
  return {
      {"row_sum_error", "how far the sum of a row is from 1, at most", false, false, false,
       row_sum_error},
      {"weight", "weight of the query on the key", true, true, false,
       [](const Traces& t, const Claim& c) { return weight(weights_of(*t.trace, c), c); }},
      {"weight_change", "weight of the query on the key, less that of the other run", true, true,
       true,
       [](const Traces& t, const Claim& c) {
         return weight(weights_of(*t.trace, c), c) - weight(weights_of(*t.reference(), c), c);
       }},
      {"strongest_key", "the key that the query gives the largest weight", true, false, false,
       strongest_key},
      {"later_weight", "the largest weight on a later token", false, false, false, later_weight},
      {"farthest", "the largest distance between a query and a key of weight above 0", false, false,
       false, farthest},
      {"difference", "the largest difference from the other run's map", false, false, true,
       difference},
      {"earlier_difference", "the same in the rows before the query", true, false, true,
       earlier_difference},
      {"difference_by_token",
       "the same, where the other run has the tokens in another order: between equal pairs of "
       "tokens",
       false, false, true, difference_by_token},
      {"difference_where_allowed", "the same between pairs that neither order forbids", false,
       false, true, difference_where_allowed},
      of_head("entropy", "mean entropy of the rows, in bits", &Statistics::entropy),
      of_head("distance", "mean distance to what is attended to, in tokens", &Statistics::distance),
      of_head("first_token", "mean weight on the first token", &Statistics::first_token),
      of_head("previous_token", "mean weight on the token before", &Statistics::previous_token),
      of_head("same_token", "mean weight on earlier occurrences of the same token",
              &Statistics::same_token),
      of_head("induction", "mean weight on tokens that followed the same token earlier",
              &Statistics::induction),
      change_of_head("entropy_change", "entropy less that of the other run", &Statistics::entropy),
      change_of_head("distance_change", "distance less that of the other run",
                     &Statistics::distance),
      {"median_entropy", "entropy of the layer's heads: half of them have no less", false, false,
       false, median_entropy},
      {"most_induction", "induction of the layer's head that does it most", false, false, false,
       most_induction},
      {"maps_apart", "the largest difference between the two heads that are most alike", false,
       false, false, maps_apart},
  };
}

}  // namespace attnscope
