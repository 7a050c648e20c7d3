// The measures that claims may name, in one list.
#include <algorithm>
#include <cmath>
#include <map>

#include "core/analysis/flow.h"
#include "core/analysis/statistics.h"
#include "core/base/error.h"
#include "core/lesson/claim.h"
#include "core/position/encoding.h"

namespace attnscope {

namespace {

// The attention of the claim's head.  [L_q, L_k]
Tensor weights_of(const Trace& trace, const Claim& claim) {
  Index head = 0;
  const AttentionTap* tap = trace.find(claim.layer, claim.head, &head);
  if (tap == nullptr) {
    throw InputError("a claim is about layer " + std::to_string(claim.layer) + ", head " +
                     std::to_string(claim.head) + ", which the run does not have");
  }
  return tap->attention(head);
}

const AttentionTap& tap_of(const Trace& trace, const Claim& claim) {
  weights_of(trace, claim);
  return *trace.find(claim.layer, claim.head, nullptr);
}

void need(Index index, Index count, const char* what) {
  if (index >= 0 && index < count) return;
  throw InputError("a claim is about " + std::string(what) + " " + std::to_string(index) +
                   ", of which there are " + std::to_string(count));
}

double weight(const Tensor& weights, const Claim& claim) {
  need(claim.query, weights.dim(0), "query");
  need(claim.key, weights.dim(1), "key");
  return static_cast<double>(weights(claim.query, claim.key));
}

// What `of` says about every pair, the largest of it.
template <class Of>
double largest(const Tensor& weights, const Of& of) {
  double most = -INFINITY;
  for (Index i = 0; i < weights.dim(0); ++i) {
    for (Index c = 0; c < weights.dim(1); ++c) most = std::max(most, of(i, c));
  }
  return most;
}

double row_sum_error(const Traces& traces, const Claim& claim) {
  const Tensor weights = weights_of(*traces.trace, claim);
  double worst = 0;
  for (Index i = 0; i < weights.dim(0); ++i) {
    double sum = 0;
    for (Index c = 0; c < weights.dim(1); ++c) sum += static_cast<double>(weights(i, c));
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
  return largest(
      weights, [&](Index i, Index c) { return c > i ? static_cast<double>(weights(i, c)) : 0.0; });
}

double farthest(const Traces& traces, const Claim& claim) {
  const Tensor weights = weights_of(*traces.trace, claim);
  return largest(weights, [&](Index i, Index c) {
    return weights(i, c) > 0 ? static_cast<double>(std::abs(i - c)) : 0.0;
  });
}

// The largest difference between the weights of two equal maps.
double difference(const Traces& traces, const Claim& claim) {
  const Tensor a = weights_of(*traces.trace, claim), b = weights_of(*traces.reference, claim);
  if (a.shape() != b.shape()) {
    throw InputError("a claim compares maps of different sizes");
  }
  return largest(
      a, [&](Index i, Index c) { return std::abs(static_cast<double>(a(i, c) - b(i, c))); });
}

// The same where the other run has the same tokens in another order, each of them once.
double difference_by_token(const Traces& traces, const Claim& claim) {
  const Tensor a = weights_of(*traces.trace, claim), b = weights_of(*traces.reference, claim);
  std::map<std::int32_t, Index> place;
  for (const TraceToken& token : traces.reference->tokens) {
    place.emplace(token.id, static_cast<Index>(place.size()));
  }
  const std::vector<TraceToken>& tokens = traces.trace->tokens;
  if (place.size() != tokens.size() || a.shape() != b.shape()) {
    throw InputError("a claim compares orders of tokens that are not the same, each once");
  }
  return largest(a, [&](Index i, Index c) {
    const Index row = place.at(tokens[static_cast<std::size_t>(i)].id);
    const Index column = place.at(tokens[static_cast<std::size_t>(c)].id);
    return std::abs(static_cast<double>(a(i, c) - b(row, column)));
  });
}

HeadStatistics statistics(const Trace& trace, const Claim& claim) {
  std::vector<std::int32_t> ids;
  for (const TraceToken& token : trace.tokens) ids.push_back(token.id);
  return head_statistics(weights_of(trace, claim), ids);
}

Measure of_head(const char* id, const char* help, double HeadStatistics::*member) {
  return {id, help, false, false, false, [member](const Traces& traces, const Claim& claim) {
            return statistics(*traces.trace, claim).*member;
          }};
}

Measure change_of_head(const char* id, const char* help, double HeadStatistics::*member) {
  return {id, help, false, false, true, [member](const Traces& traces, const Claim& claim) {
            return statistics(*traces.trace, claim).*member -
                   statistics(*traces.reference, claim).*member;
          }};
}

double density(const Traces& traces, const Claim& claim) {
  const Pattern& pattern = *tap_of(*traces.trace, claim).result.pattern;
  return static_cast<double>(pattern.pair_count(pattern.heads())) /
         static_cast<double>(pattern.heads() * pattern.queries() * pattern.keys());
}

double keys_of_query(const Traces& traces, const Claim& claim) {
  const Pattern& pattern = *tap_of(*traces.trace, claim).result.pattern;
  need(claim.query, pattern.queries(), "query");
  return static_cast<double>(
      pattern.row_count(std::min(claim.head, pattern.heads() - 1), claim.query));
}

double layers_to_reach(const Traces& traces, const Claim& claim) {
  std::vector<std::vector<const Pattern*>> layers(
      static_cast<std::size_t>(traces.trace->layer_count()));
  for (const AttentionTap& tap : traces.trace->attention) {
    layers[static_cast<std::size_t>(tap.address.layer)].push_back(tap.result.pattern.get());
  }
  const IntTensor reach = reachability(layers);
  need(claim.query, reach.dim(0), "query");
  need(claim.key, reach.dim(1), "key");
  const std::int32_t count = reach(claim.query, claim.key);
  return count < 0 ? INFINITY : static_cast<double>(count);
}

// The vectors that the head's encoding adds to the input, in double precision's place: a table of
// as many positions as there are tokens.  [L, d]
Tensor position_vectors(const Trace& trace, const Claim& claim) {
  const Choice& choice = tap_of(trace, claim).encoding;
  const Encoding& chosen = encoding(choice.id);
  const bool learned = !std::ranges::all_of(chosen.weights, &WeightInfo::optional);
  if (!chosen.embed || learned) {
    throw InputError("a claim is about the vectors that an encoding adds, and " + choice.id +
                     " adds none, or learned ones");
  }
  const Index length = static_cast<Index>(trace.tokens.size());
  std::vector<std::int32_t> positions;
  for (Index i = 0; i < length; ++i) positions.push_back(static_cast<std::int32_t>(i));
  const NamedVars none;
  const EncodingContext context{
      .values = choice.values, .weights = none, .dimensions = {}, .scale = {}};
  const Var zeros{Tensor::zeros({1, length, trace.config.width})};
  return chosen.embed(zeros, positions, context).value().reshaped({length, trace.config.width});
}

double similarity(const Tensor& vectors, Index i, Index j) {
  double sum = 0;
  for (Index n = 0; n < vectors.dim(1); ++n) {
    sum += static_cast<double>(vectors(i, n)) * static_cast<double>(vectors(j, n));
  }
  return sum / static_cast<double>(vectors.dim(1));
}

// How much the similarity of two position vectors depends on where the two lie, beyond how far
// they are apart.
double similarity_spread(const Traces& traces, const Claim& claim) {
  const Tensor vectors = position_vectors(*traces.trace, claim);
  return largest(Tensor({vectors.dim(0), vectors.dim(0)}), [&](Index i, Index j) {
    return std::abs(similarity(vectors, i, j) - similarity(vectors, 0, std::abs(i - j)));
  });
}

double position_similarity(const Traces& traces, const Claim& claim) {
  const Tensor vectors = position_vectors(*traces.trace, claim);
  need(claim.query, vectors.dim(0), "query");
  need(claim.key, vectors.dim(0), "key");
  return similarity(vectors, claim.query, claim.key);
}

}  // namespace

const std::vector<Measure>& measures() {
  using Statistics = HeadStatistics;
  static const std::vector<Measure> list{
      {"row_sum_error", "how far the sum of a row is from 1, at most", false, false, false,
       row_sum_error},
      {"weight", "weight of the query on the key", true, true, false,
       [](const Traces& t, const Claim& c) { return weight(weights_of(*t.trace, c), c); }},
      {"weight_change", "weight of the query on the key, less that of the other run", true, true,
       true,
       [](const Traces& t, const Claim& c) {
         return weight(weights_of(*t.trace, c), c) - weight(weights_of(*t.reference, c), c);
       }},
      {"strongest_key", "the key that the query gives the largest weight", true, false, false,
       strongest_key},
      {"later_weight", "the largest weight on a later token", false, false, false, later_weight},
      {"farthest", "the largest distance between a query and a key of weight above 0", false, false,
       false, farthest},
      {"difference", "the largest difference from the other run's map", false, false, true,
       difference},
      {"difference_by_token",
       "the same, where the other run has the tokens in another order: between equal pairs of "
       "tokens",
       false, false, true, difference_by_token},
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
      {"density", "allowed pairs as a share of all pairs", false, false, false, density},
      {"keys_of_query", "how many keys the query may see", true, false, false, keys_of_query},
      {"layers_to_reach", "layers until the query hears from the key", true, true, false,
       layers_to_reach},
      {"similarity_spread",
       "how much the similarity of two position vectors changes when both move together, at most",
       false, false, false, similarity_spread},
      {"position_similarity", "mean product of the components of two position vectors", true, true,
       false, position_similarity},
  };
  return list;
}

}  // namespace attnscope
